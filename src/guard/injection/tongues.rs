//! The plainest orders in other languages: to forget what was said, to be somebody else, to hide
//! something, to give a secret away. Looked for as beginnings of words in a row, since these languages
//! bend their words or write them without spaces. Not here: English (`phrases`, `orders`), and the
//! looking (`foreign`), and further languages (`far_tongues`).

use super::Suspicion::{self, Conceal, Credentials, Override, Role};

/// Parts that must stand in this order, each one of several with `|` between them.
pub(super) type Order = (Suspicion, &'static [&'static str]);

/// Every order, in lower case.
pub(super) const ORDERS: &[Order] = &[
    // German
    (
        Override,
        &[
            "ignorier|vergiss|vergesst|vergessen sie|missacht|überschreib",
            "vorherig|bisherig|vorig|obige|früher|vorangegangen|alles|alle ",
            "anweisung|instruktion|vorgabe|richtlinie|befehl|gesagt|gelernt|regeln",
        ],
    ),
    (
        Role,
        &[
            "du bist jetzt|du bist nun|du bist ab|sie sind jetzt|sie sind ab",
            "ein |eine |kein|mein|der |die |sofort",
        ],
    ),
    (
        Role,
        &[
            "ab jetzt|von nun an|ab sofort|von jetzt an",
            "musst du|wirst du|sollst du|antworte|bist du|antwortest|befolg",
        ],
    ),
    (Role, &["befolg", "ab sofort|ab jetzt|nur noch|ausschließlich", "anweisung|befehl|regeln"]),
    (
        Credentials,
        &[
            "send|schick|lade |übertrag",
            "umgebungsvariablen|zugangsdaten|passwörter|schlüssel|quellcode|.env",
            "an http|an die adresse|nach http|auf http|zu http",
        ],
    ),
    (
        Conceal,
        &[
            "sag|erzähl|verrat|informier|teile|erwähn|melde",
            "benutzer|nutzer|anwender| user|niemand|entwickler",
            "nicht|nichts|kein|davon",
        ],
    ),
    (
        Conceal,
        &["ersetz|änder|lösch|füge|send|installier|schick", "heimlich|unbemerkt|ohne wissen"],
    ),
    (
        Conceal,
        &[
            "ohne ",
            "benutzer|nutzer|anwender|jemand",
            "zu sagen|zu informieren|zu fragen|zu erwähnen",
        ],
    ),
    (
        Credentials,
        &[
            "gib|sende|schick|verrat|zeig",
            "passwort|schlüssel|zugangsdaten|geheimnis|token",
            "an mich|an diese|an folgende|an http|aus.|preis",
        ],
    ),
    // French
    (
        Override,
        &[
            "ignore|oublie|ne tiens pas compte|ne tenez pas compte|fais abstraction",
            "instruction|consigne|règle|directive|tout ce qu",
            "précédent|antérieur|ci-dessus|avant|on t|on vous",
        ],
    ),
    (
        Override,
        &[
            "ignore toutes|ignorez toutes|oublie toutes|oubliez toutes",
            "instruction|consigne|règle|directive",
        ],
    ),
    (
        Role,
        &[
            "tu es maintenant|tu es désormais|vous êtes maintenant|vous êtes désormais",
            "un |une |le |la |mon |sans ",
        ],
    ),
    (
        Role,
        &[
            "à partir de maintenant|dorénavant|désormais",
            "tu dois|vous devez|tu vas|tu es|réponds|répondez",
        ],
    ),
    (
        Conceal,
        &[
            "ne dis |ne dites |ne le dis|n'informe|ne révèle|ne mentionne|ne prévien|ne préven",
            "utilisateur|personne|développeur",
        ],
    ),
    (Conceal, &["sans ", "informer|prévenir|dire à|demander à", "utilisateur|personne|quiconque"]),
    (
        Credentials,
        &[
            "envoie|envoyez|révèle|révélez|donne|affiche",
            "mot de passe|clé|jeton|identifiants|secret",
            "à cette|à moi|à l'adresse|http|-moi",
        ],
    ),
    // Spanish
    (
        Override,
        &[
            "ignora|olvida|ignore |olvide|haz caso omiso",
            "instruccion|regla|indicacion|directriz|todo lo que|órdenes",
            "anterior|previa|te dij|arriba|le dij",
        ],
    ),
    (
        Role,
        &["ahora eres|eres ahora|a partir de ahora", "un |una |mi |sin |debes|responde|eres|vas a"],
    ),
    (
        Conceal,
        &[
            "no le digas|no digas|no informes|no menciones|no reveles|sin decir|sin informar|\
             sin preguntar|sin avisar",
            "usuario|nadie|desarrollador|esto",
        ],
    ),
    (
        Credentials,
        &[
            "envía|envia|muestra|revela|dame",
            "contraseña|clave|credencial|token|secreto",
            "a esta|a mí|http|a este|al correo",
        ],
    ),
    // Portuguese
    (
        Override,
        &[
            "ignore |ignora|esqueça|esquece",
            "instruções|instrucoes|regras|tudo o que|diretrizes",
            "anterior|prévia|acima|disse",
        ],
    ),
    (Role, &["agora você é|você agora é|a partir de agora", "um |uma |você|deve|responda"]),
    (
        Conceal,
        &[
            "não conte|não diga|não informe|não mencione|sem avisar|sem informar",
            "usuário|ninguém|desenvolvedor|isso",
        ],
    ),
    // Italian
    (
        Override,
        &[
            "ignora|dimentica|ignorate",
            "istruzioni|regole|direttive|tutto ciò|quello che",
            "precedent|sopra|detto|prima",
        ],
    ),
    (Override, &["ignora tutte|dimentica tutte", "istruzioni|regole"]),
    (Role, &["ora sei|adesso sei|d'ora in poi", "un |una |senza|devi|rispondi"]),
    (
        Conceal,
        &[
            "non dire|non dirlo|non informare|senza dire|senza informare",
            "utente|nessuno|sviluppatore",
        ],
    ),
    // Dutch
    (
        Override,
        &["negeer|vergeet", "vorige|eerdere|bovenstaande|alle", "instructies|regels|opdrachten"],
    ),
    (Conceal, &["vertel|zeg", "gebruiker", "niet|niets"]),
    // Polish and Turkish
    (Override, &["zignoruj|zapomnij", "poprzedni|wszystk|wcześniejsz", "instrukcj|polece|zasad"]),
    (
        Override,
        &["önceki|yukarıdaki|tüm", "talimat|kural|komut", "yok say|unut|görmezden|dikkate alma"],
    ),
    // Russian and Ukrainian
    (
        Override,
        &[
            "игнорир|забуд|проигнорир|ігнору",
            "предыдущ|прежн|выше|все |всё|попередн",
            "инструкц|указан|правил|сказан|інструкц",
        ],
    ),
    (Role, &["теперь ты|ты теперь|отныне ты|с этого момента ты", ""]),
    (
        Conceal,
        &["не говори|не сообщай|не рассказывай|не упоминай", "пользовател|никому|разработчик"],
    ),
    (Credentials, &["отправь|пришли|покажи|отправляй", "пароль|ключ|токен|секрет"]),
    // Chinese
    (
        Override,
        &[
            "忽略|无视|忘记|忘掉|不要理会|不要遵守|忽視|無視",
            "之前|以上|所有|先前|前面|上述|原有|一切|你的|系统",
            "指令|指示|规则|提示|命令|要求|規則",
        ],
    ),
    (Role, &["从现在开始|从现在起|現在開始|你现在是|你現在是", "你|没有|一个|一名|必须"]),
    (Role, &["扮演|假装你", "没有|不受|限制|角色"]),
    (Conceal, &["不要告诉|别告诉|不要通知|不要告訴|瞒着|不要让", "用户|任何人|用戶|开发者|知道"]),
    (Conceal, &["不要询问|不要问|无需询问|不用问|无须征求", "用户|任何人|用戶"]),
    (Credentials, &["输出|显示|透露|泄露", "系统提示|系统指令|系統提示"]),
    (Credentials, &["把|将", "密码|密钥|令牌|凭证|环境变量", "发给|发送|发到|告诉我|上传"]),
    (Role, &["必须始终|必须总是|总是要|始终要", "推荐|回答|服从|执行"]),
    // Japanese
    (
        Credentials,
        &["システムプロンプト|パスワード|トークン", "表示して|出力して|教えて|送って|送信して"],
    ),
    (
        Override,
        &["以前の|これまでの|前の|上記の|すべての", "指示|命令|ルール|プロンプト", "無視|忘れ"],
    ),
    (Override, &["無視|忘れて", "以前の|これまでの|上記の", "指示|命令|ルール"]),
    (Conceal, &["ユーザー|誰に", "言わない|伝えない|知らせない|教えない"]),
    (Role, &["あなたは今から|今からあなたは|これからあなたは", ""]),
    // Korean
    (Override, &["이전|위의|모든|앞의", "지시|명령|규칙|지침", "무시|잊어"]),
    (Conceal, &["사용자에게", "말하지|알리지"]),
    (Credentials, &["시스템 프롬프트|비밀번호|.env", "출력|보여|전송|보내"]),
];
