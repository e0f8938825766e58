"""The language rule on titles and descriptions as people write them, in English and in seventeen other languages."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.records import Case, Change
from reviewgauge.stages.keep_english import KeepEnglish, judge_text

TITLES = tomllib.loads(Path(__file__).with_name("titles.toml").read_text("utf-8"))
ENGLISH, OTHER, SHORT_ENGLISH, SHORT_OTHER = (TITLES[name].strip().splitlines() for name in TITLES)
OTHER = """
Fehler beim Einlesen leerer Dateien behoben
Neue Prüfung für die Eingabe der Adresse
Absturz bei leerer Liste behoben und Test hinzugefügt
Corrige l'erreur quand le fichier est vide
Ajout d'une option pour désactiver le cache
Mise à jour des dépendances
Corrige el error cuando la lista está vacía
Añade una opción para desactivar la caché
Actualiza las dependencias del proyecto
Corrige erro quando o arquivo está vazio
Adiciona opção para desativar o cache
Corregge l'errore quando il file è vuoto
Aggiunge una opzione per disattivare la cache
Herstelt fout bij het inlezen van een leeg bestand
Poprawka błędu przy pustej liście
Oprava chyby při prázdném souboru
Rättar fel när filen är tom
Tilføjer en indstilling til at slå cachen fra
Boş liste için hata düzeltildi
Perbaiki kesalahan saat berkas kosong
Sửa lỗi khi danh sách trống
Adaugă o opțiune pentru a dezactiva memoria
Üres lista hibájának javítása
Korjaa virhe kun tiedosto on tyhjä
Remove campo do formulario de login
Corrige bug na tela de cadastro
fix(menu): corrige le style du bouton
refactor: renomme les tests de la page
Anpassungen am Login-Formular
Bugfix Erkennung der Sprache
Arreglado el bug de los tests en PHP
修复空文件导致的崩溃
feat: 支持多数据库
fix(router): 修复参数丢失的问题
空のリストでクラッシュする問題を修正
キャッシュを無効にするオプションを追加
빈 목록에서 발생하는 오류 수정
Исправлена ошибка при пустом файле
Добавить поддержку HTTP/3
Виправлено помилку при порожньому файлі
Διόρθωση σφάλματος σε κενό αρχείο
إصلاح الخطأ عند فراغ الملف
תיקון שגיאה בקובץ ריק
แก้ไขข้อผิดพลาดเมื่อไฟล์ว่าง
खाली फ़ाइल पर त्रुटि ठीक करें
""".strip().splitlines()
LONG_ENGLISH = """<!-- Please describe your change. Bitte beschreiben Sie die Änderung. -->
## Why
When the cache is cold, two threads may both compute the value; the second one wins and the first is lost.

```python
def größe(wert): return wert  # der Wert
```
Closes #12. See https://example.org/die/und/das
"""
LONG_OTHER = """Wenn der Zwischenspeicher leer ist, berechnen zwei Threads den Wert; der zweite gewinnt.

```python
def compute(value):
    return value  # the value that is computed when there is none in the cache
```
Closes #12
"""


def case(title: str, description: str = "") -> Case:
    return Case(id="a", change=Change(repo="a/b", title=title, description=description))


def test_precision_and_recall_on_titles() -> None:
    said_english = [text for text in ENGLISH + OTHER if judge_text(text) == "english"]
    right = [text for text in said_english if text in ENGLISH]
    assert len(right) / len(said_english) >= 0.96, set(said_english) - set(right)
    assert len(right) / len(ENGLISH) >= 0.96, set(ENGLISH) - set(right)
    assert not [text for text in ENGLISH if judge_text(text) == "other"]
    called_other = [text for text in OTHER if judge_text(text) == "other"]
    assert len(called_other) / len(OTHER) >= 0.9, set(OTHER) - set(called_other)


def test_titles_of_a_few_words() -> None:
    english = [judge_text(text) for text in SHORT_ENGLISH]
    assert english.count("english") >= 49
    assert "other" not in english
    other = [judge_text(text) for text in SHORT_OTHER]
    assert other.count("other") >= 50
    assert "english" not in other


def test_code_links_and_templates_are_not_read() -> None:
    assert judge_text(LONG_ENGLISH) == "english"
    assert judge_text(LONG_OTHER) == "other"
    assert judge_text("`der` https://die.example/das @und #12") == "unknown"
    assert judge_text("") == "unknown"


@pytest.mark.parametrize(
    ("title", "description", "kept"),
    [
        ("Fix the parser", "", True),
        ("Fix the parser", "It failed on an empty line when there was no header.", True),
        ("v2.1.0", "The first release with the new parser, and a fix for empty lines.", True),
        ("v2.1.0", "", "neither title nor description shows its language"),
        ("修复崩溃", "This fixes the crash that was seen when the list is empty.", "the title is not English"),
        ("Fix the parser", "Das behebt den Absturz bei leeren Zeilen.", "the description is not English"),
        (
            "Fix the parser",
            "This fixes the parser. 这个修复了解析器的问题，当列表为空时",
            "the description is not English",
        ),
    ],
)
def test_title_and_description_are_judged_apart(title: str, description: str, kept: bool | str) -> None:
    one = case(title, description)
    assert KeepEnglish().keep(one) == (one if kept is True else kept)


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    assert judge_text(text) in ("english", "other", "unknown")
