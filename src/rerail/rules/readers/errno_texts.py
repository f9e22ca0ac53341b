# ruff: noqa: RUF001
"""What the C library says of an error in other languages: a log of somebody else's machine may be in any.

Source: glibc, the catalogues of its `strerror` texts (``po/*.po``).
"""

from __future__ import annotations

_TEXTS = {
    "ENOENT": (
        "Datei oder Verzeichnis nicht gefunden", "Aucun fichier ou dossier de ce type",
        "No existe el fichero o el directorio", "No existe el archivo o el directorio",
        "File o directory non esistente", "Ficheiro ou pasta inexistente", "Arquivo ou diretório inexistente",
        "Arquivo ou diretório não encontrado", "Nie ma takiego pliku ani katalogu",
        "Нет такого файла или каталога", "Bestand of map bestaat niet", "没有那个文件或目录", "沒有此一檔案或目錄",
        "そのようなファイルやディレクトリはありません", "그런 파일이나 디렉터리가 없습니다", "Böyle bir dosya ya da dizin yok",
        "Filen eller katalogen finns inte",
    ),
    "EACCES": (
        "Keine Berechtigung", "Permission non accordée", "Permiso denegado", "Permesso negato",
        "Permissão recusada", "Permissão negada", "Brak dostępu", "Отказано в доступе", "Toegang geweigerd",
        "权限不够", "許可がありません",
    ),
    "ENOSPC": (
        "Auf dem Gerät ist kein Speicherplatz mehr verfügbar", "Aucun espace disponible sur le périphérique",
        "No queda espacio en el dispositivo", "Spazio esaurito sul device",
        "Não há espaço disponível no dispositivo", "Brak miejsca na urządzeniu",
        "На устройстве не осталось свободного места", "设备上没有空间", "デバイスに空き領域がありません",
    ),
    "EADDRINUSE": (
        "Die Adresse wird bereits verwendet", "Adresse déjà utilisée", "La dirección ya se está usando",
        "Indirizzo già in uso", "Endereço já em uso", "Adres jest już w użyciu", "Адрес уже используется",
        "地址已在使用", "アドレスは既に使用中です",
    ),
    "ECONNREFUSED": (
        "Verbindungsaufbau abgelehnt", "Connexion refusée", "Conexión rehusada", "Connessione rifiutata",
        "Ligação recusada", "Conexão recusada", "Połączenie odrzucone", "В соединении отказано", "拒绝连接",
        "接続を拒否されました",
    ),
    "ENOMEM": (
        "Nicht genügend Hauptspeicher verfügbar", "Ne peut allouer de la mémoire", "No se pudo asignar memoria",
        "Impossibile allocare memoria", "Não foi possível alocar memória", "Nie można przydzielić pamięci",
        "Невозможно выделить память", "无法分配内存", "メモリを確保できません",
    ),
    "EMFILE": (
        "Zu viele offene Dateien", "Trop de fichiers ouverts", "Demasiados ficheros abiertos",
        "Demasiados archivos abiertos", "Troppi file aperti", "Muitos arquivos abertos",
        "Слишком много открытых файлов", "打开的文件过多",
    ),
}  # fmt: skip
_NAMES = {text: name for name, texts in _TEXTS.items() for text in texts}
_COLONS = (": ", "：")


def error_said(line: str) -> str | None:
    """Return the name of the error whose text, in a language that is not English, ends a line; None where none does."""
    for colon in _COLONS:
        before, _, text = line.rpartition(colon)
        if before and (name := _NAMES.get(text.partition(". ")[0].strip(" .。)\r"))):
            return name
    return None
