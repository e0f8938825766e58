"""Keep changes whose title and description are English.

Source: AACR-Bench's language standard (arXiv:2601.19494, appendix A): "the title and description of the PR must be
written in English". The paper does not say how it knows. Here function words decide (Grefenstette, JADT 1995), and in
short titles words of the trade ("fix", "bump") for English, accents and endings ("-ção", "-ung") for other languages,
each half as much; a text with neither is `unknown`. The lists are this project's own.

No library does it better. Of 50 English titles of two to four words ("Fix typo") these lists recognise 49 and call none
foreign; py3langid 0.4, limited to 27 languages, recognises 36 and calls 7 foreign. Of 73 longer titles both judge 72
right, and lingua (96 MB) 70. The titles are in the tests.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from typing_extensions import override

from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case

LanguageAnswer = Literal["english", "other", "unknown"]

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
    "German": """der die das und ist nicht ein eine einen einem einer dem des mit für auf von zu im wird werden
        wurde bei nach aus auch oder wenn nur noch als wie aber durch über unter beim zum zur vom kann
        sind haben sich dass daß keine kein fehler behebt behoben behebe hinzufügen hinzugefügt entfernt
        entferne füge korrigiert verbessert verbesserung aktualisiert aktualisiere neue neuer neues jetzt
        prüfung ändert geändert fügt hinzu ergänzt ergänze ändere angepasst anpassung anpassungen
        entfernen erstellt erstellen verwende verwendet fehlerbehebung neuen aktualisierung umbenannt
        verschoben möglich datei dateien benutzer""",
    "French": """le les des du et est une un dans que qui pas sur avec ce cette ces sont par au aux ne ou se mais
        comme il elle nous vous leur son sa ses être été fait lors afin ajout ajoute ajouter corrige
        corriger supprime supprimer mise jour gestion erreur nouvelle nouveau quand depuis d'un d'une
        l'erreur qu'il n'est c'est utilisateur fichier de la en sans cet leurs l'utilisateur qu'on si
        enlève retire ajouts corrigé corrections remplace renomme déplace affiche affichage améliore
        amélioration utilise utiliser gère rend permet évite masque change modifie crée création passe met
        montre répare règle règles champ champs fichiers bouton lien liens erreurs nouvelles premier
        première avant après tous toutes petits petit""",
    "Spanish": """el los las del una uno que por para con en es se su sus al como más pero fue son está están este
        esta esto cuando muy sin sobre también hay ya porque entre desde nos ser añade añadir agrega
        agregar corrige corregir arregla arreglar elimina eliminar actualiza actualizar nueva nuevo
        usuario archivo cambios y o la lo de un unos unas no estos estas agregado agregada añadido añadida
        corregido corregida arreglado arreglo cambia cambiado cambio mejora mejoras creado crea permite
        muestra usa usuarios archivos versión código nuevas todos pantalla tabla campo campos prueba
        pruebas listado fichero ficheros funcionalidad""",
    "Portuguese": """os das dos uma um que por para com em é se não como mais mas foi são está este esta isso quando
        muito sem sobre também já entre desde ser adiciona adicionar corrige corrigir remover atualiza
        atualizar nova novo erro usuário arquivo mudanças ao aos na nas nos pela pelo da e de do no à às
        pelos pelas as o a nao ou sua seu essa esse ele ela ajusta ajustado ajustes ajuste altera alterado
        alterada alteração alteracao implementa implementado cria criado criada criação criacao retira
        retirado adicionado adicionada adicionando corrigido corrigida correção correcao correções
        atualizado atualização melhoria melhorias melhora refatora refatoração configura usa utiliza monta
        permite exibe valida inclui incluído removido removida remoção tela campo campos tabela arquivos
        relatório relatorio aluno escola matrícula cadastro nome dados lista consulta filtro versão código
        caso todos novos novas usuários serviço botão página""",
    "Italian": """il lo gli della delle dei del di che è con una uno non si sono più come anche quando nel nella sul
        alla al dal questo questa essere stato aggiunge aggiungi aggiunto corregge corretto correzione
        rimuove rimosso aggiorna aggiornato nuova nuovo errore utente e degli nei nelle dalla sulla o la
        le un senza aggiunta aggiunti aggiunte modifica modificato corretta corretti correzioni rimossa
        rimossi rimozione sistemato sistema crea creato nuovi nuove tutti gestione""",
    "Dutch": """het een van en niet dat die voor met zijn wordt worden als ook maar aan bij naar uit nog wel kan
        deze dit werd toevoegen toegevoegd verwijder verwijderd fout fouten herstelt verbeterd nieuwe
        wanneer door de op te om aangepast aanpassing gebruik gebruikt""",
    "Polish": """nie się jest na do dla że oraz przez po jak tego jako tylko przy są był być dodaje dodaj dodano
        usuwa usunięto poprawia popraw poprawka naprawia błąd błędu nowa nowy zmiana""",
    "Czech": """se na že pro do po jako při nebo když která který byl být přidává přidat přidáno oprava opravuje
        odstraněno chyba chyby nový nová změna""",
    "Swedish": """och att det som en är inte på av för med till har om ett kan ska från när lägg lägger tillagd bort
        rättar åtgärda fel nya ändra""",
    "Danish": """og det ikke på med til har om kan skal fra når tilføj tilføjer fjern rettet fejl nye ny ændre som""",
    "Turkish": """ve bir için bu ile de da olarak daha çok olan gibi kadar sonra ekle eklendi düzelt düzeltildi
        düzeltme kaldırıldı hata hatası yeni güncellendi değil""",
    "Indonesian": """yang dan di untuk dengan pada ini itu dari tidak akan ke juga karena saat oleh tambah tambahkan
        perbaiki perbaikan hapus kesalahan pengguna baru berkas""",
    "Vietnamese": """và của là cho trong được không các có một với khi để này thêm sửa lỗi xóa cập nhật người
        dùng mới""",
    "Romanian": """și este pentru care nu cu din la sau mai dar prin după când adaugă adăugat corectează eliminat
        eroare nou nouă""",
    "Hungarian": """és az egy nem hogy meg csak már vagy mint hozzáadása javítás javítása eltávolítása hiba új""",
    "Finnish": """ja ei se että joka kun tai mutta myös lisää lisätty korjaa korjattu poista poistettu virhe uusi""",
}
_ENDINGS = {
    "Portuguese": r"ção|cao|ções|coes|ões|dade|dades|mente|ando|endo|indo|ado|ada|ados|adas|ário|ória|ência|agem|inho",
    "Spanish": r"ción|ciones|dad|dades|mente|ando|iendo|ado|ada|ados|adas|miento|amiento",
    "French": r"eur|eurs|eux|euse|euses|ité|ités|oire|oires|ement|aient|ique|iques|elle|elles|ée|ées",
    "Italian": r"zione|zioni|mento|menti|ità|aggio|ando|endo",
    "German": r"ung|ungen|keit|heit|lich|liche|licher|isch|ische|ieren|iert|schaft",
    "Dutch": r"heid|lijk|lijke|eren|eert",
}
_ENDS = {name: re.compile(rf"\w{{3,}}(?:{endings})") for name, endings in _ENDINGS.items()}
_AT_HOME = frozenset({"naïve", "café", "façade", "résumé", "déjà"})  # accents that English has
_AMBIGUOUS = frozenset(word for listed in _OTHERS.values() for word in listed.split()) & _ENGLISH
_BY_WORD: dict[str, tuple[str, ...]] = {}
for _name, _listed in _OTHERS.items():
    for _word in set(_listed.split()) - _TRADE - _AMBIGUOUS:
        _BY_WORD[_word] = (*_BY_WORD.get(_word, ()), _name)

_NOISE = re.compile(
    r"<!--.*?(-->|\Z)|^(```|~~~).*?(^\2|\Z)|`[^`\n]*`|!\[[^\[\]]*\]\([^()]*\)|(?<=\])\([^()\s]*\)|</?[a-z][^<>]*>"
    r"|\b[a-z][a-z0-9+.-]{0,30}://\S+|\bwww\.\S+|(?<!\S)[^\s@]+@\S+|(?<!\w)@[\w-]+|^[\w-]+-by:[^\n]*$|(?<![^\s#])[^\s#]*#\d+|:[a-z_]+:"
    r"|\A\W*[a-z]+(\([^()\n]*\))?!?:|\A\W*revert\b|^(?:refs?|see|closes|fixes)\b[:\s]*$",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"[^\s()\[\]{}<>,;:!?\"“”„«»…|*=+~]+")
_WORD = re.compile(r"[^\W\d_]++(?:['’][^\W\d_]+)*")
LONGEST = 100_000  # characters of a text that tell its language
LONG = 8  # words from which on a text must show its function words
SHARE = 0.12  # of the words of a long text that must be English function words or words of the trade
SURE, WEAK = 2, 1  # what a function word counts; what a word of the trade, an ending or an accent does


def judge_text(text: str, foreign: float = 0.1) -> LanguageAnswer:
    """What a text is. `foreign`: the share of its letters that may be of another script than Latin."""
    prose = _NOISE.sub(" ", text[:LONGEST])
    letters = [c for c in prose if c.isalpha()]
    if sum(not _is_latin(c) for c in letters) > foreign * len(letters):
        return "other"
    words = _words(prose)
    if not words:
        return "unknown"
    known = [word for word in words if word in _ENGLISH or word in _TRADE]
    english = sum(SURE if word in _ENGLISH - _AMBIGUOUS else WEAK if word in _TRADE else 0 for word in known)
    other = _closest_other(words)
    if other > english:
        return "other"
    if len(words) >= LONG:
        return "english" if len(known) >= SHARE * len(words) and english > other else "other"
    return "english" if english > other else "unknown"


def _words(prose: str) -> list[str]:
    """Lower-case words; what looks like a name of the code (`snake_case`, `CamelCase`, `a.b`, `x2`) is none."""
    found: list[str] = []
    for token in _TOKEN.findall(prose):
        parts = re.split(r"[-–—/]", token.strip(".'’\"")) if "." not in token.strip(".") else []
        found += [p.lower().replace("’", "'") for p in parts if _WORD.fullmatch(p) and not re.search(r"[a-z][A-Z]", p)]
    return found


def _closest_other(words: list[str]) -> int:
    """The evidence for the other language that has most of it. An accent counts for each of them."""
    counts = dict.fromkeys(_OTHERS, 0)
    for word in words:
        if word in _ENGLISH or word in _TRADE or word in _AT_HOME:
            continue
        accent = WEAK if not word.isascii() and _is_latin(word[0]) else 0
        listed = _BY_WORD.get(word, ())
        for name in counts:
            ends = name in _ENDS and _ENDS[name].fullmatch(word) is not None
            counts[name] += SURE if name in listed else max(accent, WEAK if ends else 0)
    return max(counts.values())


@lru_cache(maxsize=4096)
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "MODIFIER"))


@dataclass(frozen=True)
class KeepEnglish(Stage):
    """Judge title and description apart; code, links, quoted markup and names of the code are not read.

    A title that cannot be judged ("v2.1.0") is kept where the description is English. An empty description says
    nothing against English. `foreign`: the share of letters that may be of another script (people's names).
    """

    foreign: float = 0.1

    @override
    def keep(self, case: Case) -> Case | str:
        title = judge_text(case.change.title, self.foreign)
        description = judge_text(case.change.description, self.foreign)
        if title == "other":
            return "the title is not English"
        if description == "other":
            return "the description is not English"
        if "english" not in (title, description):
            return "neither title nor description shows its language"
        return case
