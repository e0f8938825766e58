"""Is a text English? By its letters, then by small words: no model, no download.

Function words give a language away in a sentence; short titles have none, so words of the trade ("fix", "bump") count
as English too. What holds neither is `unknown`. Sources: the idea of counting function words is Grefenstette's
(JADT 1995); the lists are this project's own.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

Answer = Literal["english", "other", "unknown"]

_FUNCTION_WORDS = """
the of and to is that it for was with be by this have from or had not are but what were when there been one we can all
if more an which she do their will how about out up them then so some her would make like him into has look two go see
no could people than who its now find any may these they you your our us as at on only also should because does
doesn't don't isn't can't won't it's i'm we're there's after before between during without within where while however
instead otherwise whether each both such same other another many much most very just still already here over under
again once too even being having did done my me i he his in a
"""
_TRADE_WORDS = """
add added adding adds allow allows avoid avoids backport break broken bug bugs build builds bump bumps cache change
changed changes check checks clean cleanup code comment comments config configurable correct correctly crash create
creates default deprecate deprecated dependencies dependency disable disabled docs documentation drop dropped
duplicate enable enabled ensure error errors exception expose extract fail failing failure failures fallback feature
file files fix fixed fixes fixing fixup flaky follow handle handles handling header headers ignore implement
implementation implemented implements import imports improve improved improvements improvement include incorrect
initial install integration introduce invalid issue issues json leak lint log logging make makes mark memory merge
message migrate minor missing mode move moved name names new null number optional option options parse parser parsing
pass performance pin prevent print pull python race raise raises read reading refactor refactored regression release
remove removed removes removing rename renamed replace replaced request requests require required reset return
returned returns revert run running security set setting settings setup simplify skip speed split start step stop
string style support supported supporting supports switch sync test tested testing tests timeout tweak type types
typing typo typos unit unnecessary unneeded unused update updated updates updating upgrade use used user users uses
using validate validation value values version warning warnings work workaround working works write wrong field fields
function functions method methods class classes call calls object objects path paths page pages server client response
responses session sessions connection connections key keys list lists line lines link links example examples script
scripts section simple small some stable tag tags task template text time token tool tools tutorial url urls variable
verify view website wording grammar spelling note notes news changelog history automatic automatically argument
arguments attribute attributes authentication behavior behaviour better branch content cookie cookies coverage custom
data database debug decode decorator delete detect directory download empty encode encoding endpoint engine
environment event explain explicit export extension filter find first fork format formatting framework generate global
guide hook improper incompatible information inherit initialize instance instead internal item items keep language
latest library limit load local long lookup loop main manage middleware mock model module modules more multiple needed
nested obsolete only output override package packages parameter parameters pattern plugin pipeline port prefer process
project property provide proxy query quick quote random range rate redirect redirects redundant reference references
register releases reliable reorganize repo report resolve resource result retry reuse rewrite route save schema scope
search send separate service shell show signal sort source space specific specify statement static status storage
store stream strict suggestion system table target thread track trigger unify utility various via warn whitespace wrap
yield stale cleanups
"""
_ENGLISH, _TRADE = frozenset(_FUNCTION_WORDS.split()), frozenset(_TRADE_WORDS.split())
_OTHERS = {
    "German": """der die das und ist nicht ein eine einen einem einer den dem des mit für auf von zu im wird werden
        wurde bei nach aus auch oder wenn nur noch als wie aber durch über unter beim zum zur vom kann sind
        hat haben sich dass daß keine kein fehler behebt behoben behebe hinzufügen hinzugefügt entfernt
        entferne füge korrigiert verbessert verbesserung aktualisiert aktualisiere neue neuer neues jetzt
        prüfung ändert geändert""",
    "French": """le les des du et est une un dans pour que qui pas sur avec ce cette ces sont par au aux plus ne ou
        se mais comme il elle nous vous leur son sa ses être été fait lors afin ajout ajoute ajouter corrige
        correction corriger suppression supprime supprimer mise jour gestion erreur nouvelle nouveau quand
        depuis d'un d'une l'erreur qu'il n'est c'est utilisateur fichier""",
    "Spanish": """el los las del una uno que por para con en es se su sus al como más pero fue son está están este
        esta esto cuando muy sin sobre también hay ya si porque entre desde nos ser añade añadir agrega
        agregar corrige corregir arregla arreglar elimina eliminar actualiza actualizar nueva nuevo error
        usuario archivo cambios y o la lo""",
    "Portuguese": """os das dos uma um que por para com em é se não como mais mas foi são está este esta isso quando
        muito sem sobre também já entre desde ser adiciona adicionar corrige corrigir remove remover
        atualiza atualizar nova novo erro usuário arquivo mudanças ao aos na nas nos pela pelo da e""",
    "Italian": """il lo gli della delle dei del di che è per con una uno non si sono più ma come anche quando nel
        nella sul alla al dal questo questa essere stato aggiunge aggiungi aggiunto corregge corretto
        correzione rimuove rimosso aggiorna aggiornato nuova nuovo errore utente e""",
    "Dutch": """het een van en niet dat die voor met zijn wordt worden als ook maar aan bij naar uit nog wel kan
        deze dit werd toevoegen toegevoegd verwijder verwijderd fout fouten herstelt verbeterd nieuwe
        wanneer door""",
    "Polish": """nie się jest na do z w dla że i oraz przez po od jak co tego jako tylko przy są był być dodaje dodaj
        dodano usuwa usunięto poprawia popraw poprawka naprawia błąd błędu nowa nowy zmiana""",
    "Czech": """se na je v že pro do od po jako při nebo když která který byl být přidává přidat přidáno oprava
        opravuje odstraněno chyba chyby nový nová změna""",
    "Swedish": """och att det som en är inte på av för med till den har om ett kan ska från när lägg lägger tillagd ta
        bort rättar åtgärda fel nya ny ändra""",
    "Danish": """og det er ikke på af for med til den har om et kan skal fra når tilføj tilføjer fjern rettet fejl
        nye ny ændre som""",
    "Turkish": """ve bir için bu ile de da olarak daha çok olan gibi kadar sonra ekle eklendi düzelt düzeltildi
        düzeltme kaldırıldı hata hatası yeni güncellendi değil""",
    "Indonesian": """yang dan di untuk dengan pada ini itu dari tidak akan ke juga karena saat oleh tambah tambahkan
        perbaiki perbaikan hapus kesalahan pengguna baru berkas""",
    "Vietnamese": """và của là cho trong được không các có một với khi để này thêm sửa lỗi xóa cập nhật người dùng
        mới""",
    "Romanian": """și este pentru care nu cu din la pe sau mai dar ca prin după când adaugă adăugat corectează eliminat
        eroare nou nouă""",
    "Hungarian": """és az egy nem hogy is meg csak már vagy mint ha hozzáadása javítás javítása eltávolítása hiba új""",
    "Finnish": """ja on ei se että joka kun tai mutta myös lisää lisätty korjaa korjattu poista poistettu virhe uusi""",
}
_BY_WORD: dict[str, tuple[str, ...]] = {}
for _name, _listed in _OTHERS.items():
    for _word in set(_listed.split()) - _TRADE:
        _BY_WORD[_word] = (*_BY_WORD.get(_word, ()), _name)

_NOISE = re.compile(
    r"<!--.*?(-->|\Z)|^(```|~~~).*?(^\2|\Z)|`[^`\n]*`|!\[[^\]]*\]\([^)]*\)|(?<=\])\([^)\s]*\)|</?[a-z][^>]*>"
    r"|\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+|\S+@\S+|(?<!\w)@[\w-]+|^[\w-]+-by:.*$|\S*#\d+",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"[^\s()\[\]{}<>,;:!?\"“”„«»…|*=+~]+")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
LONG = 8  # words from which on a text must show its function words
SHARE = 0.12  # of the words of a long text that must be English function words or words of the trade
SHORT = 4  # words
ACCENTS = 0.2  # of the words that may have letters beyond A to Z (names do)


def judge_text(text: str, foreign: float = 0.1) -> Answer:
    """What a text is. `foreign`: the share of its letters that may be of another script than Latin."""
    prose = _NOISE.sub(" ", text)
    letters = [c for c in prose if c.isalpha()]
    if sum(not _is_latin(c) for c in letters) > foreign * len(letters):
        return "other"
    words = _words(prose)
    if not words:
        return "unknown"
    english = sum(word in _ENGLISH or word in _TRADE for word in words)
    other = _closest_other(words)
    accents = sum(not word.isascii() and _is_latin(word[0]) for word in words)
    if accents > max(ACCENTS * len(words), int(english > 0)) or other > max(english, int(len(words) < SHORT)):
        return "other"  # one small word of another language in a short title may be a name of the code
    if len(words) >= LONG:
        return "english" if english >= SHARE * len(words) else "other"
    return "english" if english > other else "unknown"


def _words(prose: str) -> list[str]:
    """Lower-case words; what looks like a name of the code (`snake_case`, `CamelCase`, `a.b`, `x2`) is none."""
    found: list[str] = []
    for token in _TOKEN.findall(prose):
        parts = re.split(r"[-–—/]", token.strip(".'’\"")) if "." not in token.strip(".") else []
        found += [p.lower().replace("’", "'") for p in parts if _WORD.fullmatch(p) and not re.search(r"[a-z][A-Z]", p)]
    return found


def _closest_other(words: list[str]) -> int:
    counts: dict[str, int] = {}
    for word in words:
        for name in _BY_WORD.get(word, ()):
            counts[name] = counts.get(name, 0) + (word not in _ENGLISH)
    return max(counts.values(), default=0)


@lru_cache(maxsize=4096)
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "MODIFIER"))
