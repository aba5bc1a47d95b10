//! The plainest orders in further languages, in the form of `tongues`: to forget what was said, and to hide
//! something; and what turns an order to forget into its opposite, in all of them. Not here: the looking
//! (`foreign`).

use super::Suspicion::{Conceal, Override};
use super::tongues::Order;

/// Every order, in lower case.
pub(super) const FAR_ORDERS: &[Order] = &[
    // Swedish, Danish and Norwegian
    (
        Override,
        &[
            "ignorera|ignorer |glöm|glem |bortse från|se bort fra",
            "tidigare|föregående|alla|alle|allt|alt ",
            "instruktion|anvisning|regler|sagt",
        ],
    ),
    (
        Conceal,
        &[
            "berätta inte|säg inte|nämn inte|fortæl ikke|fortell ikke|ikke si",
            "användare|bruger|bruker|någon|nogen|noen",
        ],
    ),
    // Czech and Slovak
    (
        Override,
        &[
            "ignoruj|zapomeň|zabudni|nedbej",
            "předchozí|předešlé|predchádzajúc|všechn|všetk|dosavadní",
            "pokyn|instrukc|inštrukc|pravid|příkaz",
        ],
    ),
    (Conceal, &["neříkej|nesděluj|nepovedz|nehovor", "uživatel|používateľ|nikomu"]),
    // Polish, beyond what is above
    (Conceal, &["nie mów|nie informuj|nie wspominaj", "użytkownik|nikomu"]),
    // Indonesian and Malay
    (
        Override,
        &[
            "abaikan|lupakan",
            "semua|segala|instruksi|arahan|perintah",
            "sebelumnya|di atas|terdahulu|instruksi|arahan",
        ],
    ),
    (Conceal, &["jangan beri tahu|jangan beritahu|jangan katakan", "pengguna|siapa"]),
    // Vietnamese
    (Override, &["bỏ qua|phớt lờ|quên", "hướng dẫn|chỉ dẫn|lệnh|quy tắc", "trước|ở trên|hệ thống"]),
    (Conceal, &["đừng nói|không nói|đừng cho", "người dùng|ai biết"]),
    // Thai
    (Override, &["ละเว้น|เพิกเฉย|ลืม|ไม่ต้องสนใจ", "คำสั่ง|คำแนะนำ|กฎ", "ก่อนหน้า|ข้างต้น|ทั้งหมด"]),
    (Conceal, &["อย่าบอก|ห้ามบอก", "ผู้ใช้|ใคร"]),
    // Hindi
    (Override, &["पिछले|पहले के|पूर्व|सभी", "निर्देश|नियम|आदेश", "अनदेखा|नज़रअंदाज़|भूल"]),
    (Conceal, &["उपयोगकर्ता|यूज़र", "मत बता|न बता|नहीं बता"]),
    // Arabic, Persian and Hebrew
    (Override, &["تجاهل|انس |لا تتبع", "تعليمات|التعليمات|الأوامر|القواعد", "السابقة|أعلاه|السابق"]),
    (Conceal, &["لا تخبر|لا تقل|دون علم", "المستخدم|أحد"]),
    (Override, &["دستورات|دستورالعمل", "قبلی|پیشین|بالا", "نادیده|فراموش"]),
    (Override, &["התעלם|התעלמי|שכח", "ההוראות|הוראות|הכללים", "הקודמות|הקודמים|לעיל"]),
    (Conceal, &["אל תספר|אל תגיד", "למשתמש|לאף אחד"]),
    // Greek, Hungarian, Finnish and Romanian
    (Override, &["αγνόησε|ξέχασε|αγνοήστε", "προηγούμεν|παραπάνω|όλες", "οδηγί|εντολ|κανόν"]),
    (Override, &["hagyd figyelmen|felejtsd el", "korábbi|előző|minden", "utasítás|szabály"]),
    (
        Override,
        &["jätä huomiotta|unohda|älä välitä", "aiemmat|edelliset|kaikki", "ohjeet|säännöt|käskyt"],
    ),
    (Override, &["ignoră|uită", "instrucțiun|reguli|indicați", "anterioare|precedente|de mai sus"]),
];

/// What turns the order right behind it round, as in "do not forget", in lower case; by the languages of `tongues`
/// and those above.
pub(super) const DENIALS_BEFORE: &[&str] = &[
    "n'",
    "n\u{2019}",
    "ne ",
    "no ",
    "não ",
    "nao ",
    "non ",
    "nie ",
    "не ",
    "不",
    "不要",
    "别",
    "別",
    "勿",
    "莫",
    "ikke ",
    "inte ",
    "ne",
    "jangan ",
    "đừng ",
    "không ",
    "không được ",
    "chớ ",
    "อย่า",
    "ห้าม",
    "ไม่",
    "न ",
    "मत ",
    "नहीं ",
    "لا ت",
    "لا ",
    "אל ת",
    "אל ",
    "μην ",
    "μη ",
    "älä ",
    "nu ",
];

/// Orders and what turns them round behind or within them.
pub(super) const DENIALS: &[&str] = &[
    "vergiss nicht",
    "vergesst nicht",
    "vergessen sie nicht",
    "ignorier nicht",
    "ignoriere nicht",
    "ignoriert nicht",
    "ignorieren sie nicht",
    "vergeet niet",
    "negeer niet",
    "unutma",
    "yok sayma",
    "görmezden gelme",
    "無視しない",
    "無視せず",
    "忘れない",
    "忘れず",
    "무시하지",
    "잊어버리지",
    "glöm inte",
    "glem ikke",
    "ignorera inte",
    "ignorer ikke",
    "अनदेखा न",
    "अनदेखा मत",
    "नज़रअंदाज़ न",
    "नज़रअंदाज़ मत",
    "نادیده نگیر",
    "فراموش نکن",
    "فراموش نشود",
];
