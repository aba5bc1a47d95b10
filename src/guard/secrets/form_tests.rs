//! Every form that holds a secret: what is before and after it stays, whatever breaks, quotes and escapes stand around it. Not here:
//! the tables of names and providers (`tests`).

use super::charset::{ALNUM, HEX};
use super::redacted;
use super::table::TableKind;
use super::tests::{anchors, drawn, hides, mixed, rules};

/// Samples of each form: the rule, a text before, the secret, a text after.
fn forms() -> Vec<(&'static str, String, String, &'static str)> {
    let hex = |length| drawn(HEX, length, 3).to_lowercase();
    let line = mixed(64);
    let body = format!("{line}\n{line}\n{line}");
    let pem = |label: &str, end: &str| {
        format!("-----BEGIN {label}-----\n{body}\n{end}").trim_end().to_owned()
    };
    let end_mark = |label: &str| format!("-----END {label}-----");
    let key = ["RSA ", "PRIVATE", " KEY"].concat();
    let header = drawn(ALNUM, 20, 8);
    let jwt = format!("eyJ{header}.eyJ{}.{}", mixed(30), mixed(43));
    vec![
        ("private-key", "key: ".into(), pem(&key, &end_mark(&key)), "\nand more"),
        ("private-key", "cut off: ".into(), pem(&key, ""), ""),
        ("private-key", "'".into(), pem(&key, &end_mark(&key)).replace('\n', "\\n"), "\\n'"),
        (
            "private-key",
            "short: ".into(),
            format!("-----BEGIN {key}-----\nanything\n{}", end_mark(&key)),
            "",
        ),
        (
            "telegram-token",
            "https://api.telegram.org/bot".into(),
            format!("71234567:AE{}", mixed(33)),
            "/getMe",
        ),
        ("kubernetes-secret", "data:\n  tls.crt: |\n    ".into(), mixed(60), "\nkind: \"Secret\""),
        ("private-key", "Private-Lines: 3\n".into(), body.clone(), "\nPrivate-MAC: 1"),
        ("jwt", "cookie ".into(), jwt, " was sent"),
        ("url-password", "https://bob:".into(), ["s3cr", "3t-of-bob"].concat(), "@host/path"),
        ("url-user", "https://".into(), mixed(30), "@host/path"),
        ("curl-user", "curl -u ".into(), ["admin:Zx", "81spectrum"].concat(), " https://x"),
        ("command-password", "mysql -u root -p".into(), ["S3cret", "OfRoot"].concat(), " db"),
        ("command-password", "sshpass -p '".into(), ["S3cret", "OfRoot"].concat(), "' ssh x"),
        (
            "slack-webhook",
            String::new(),
            format!("https://hooks.slack.com/services/T0{}/B0{}", mixed(9), mixed(24)),
            " posts",
        ),
        (
            "webhook",
            String::new(),
            format!("https://acme.webhook.office.com/webhookb2/{}/{}", mixed(36), hex(32)),
            " posts",
        ),
        (
            "webhook",
            String::new(),
            format!("https://discord.com/api/webhooks/123456789012345678/{}", mixed(60)),
            " posts",
        ),
        ("azure-secret", "(".into(), format!("{}8Q~{}", mixed(3), mixed(34)), ")"),
        ("telegram-token", "bot ".into(), format!("7123456789:AA{}", mixed(33)), " polls"),
        ("terraform-token", "cred ".into(), format!("{}.atlasv1.{}", mixed(14), mixed(65)), " ok"),
        ("maxmind-key", "geo ".into(), format!("{}_{}_mmk", mixed(6), mixed(29)), " ok"),
        ("twilio-key", "sid ".into(), format!("SK{}", hex(32)), " ok"),
        (
            "kubernetes-secret",
            "kind: Secret\nmetadata:\n  name: x\ndata:\n  extra: ".into(),
            mixed(16),
            "\ntype: Opaque",
        ),
    ]
}

/// Samples of typed passwords, and of forms with a mark in their middle.
fn more_forms() -> Vec<(&'static str, String, String, &'static str)> {
    let hex = |length| drawn(HEX, length, 3).to_lowercase();
    let typed = ["S3cr", "3tOfBob"].concat();
    vec![
        ("command-password", "docker login -u me -p ".into(), typed.clone(), " reg.example"),
        ("command-password", "redis-cli -a ".into(), typed.clone(), " ping"),
        ("command-password", "openssl rsa -passin pass:".into(), typed.clone(), " -in x"),
        ("command-password", "mysql --port=3306 -p -h x -p".into(), typed.clone(), " db"),
        ("command-password", "echo '".into(), typed.clone(), "' | docker login --password-stdin"),
        ("command-password", "docker login --password-stdin <<< \"".into(), typed.clone(), "\""),
        ("command-password", "127.0.0.1:5432:app:bob:".into(), typed.clone(), "\n"),
        ("curl-user", "curl -u".into(), format!("bob:{typed}"), " https://x"),
        ("cookie", "Set-Cookie: session=".into(), hex(32), "; Path=/"),
        ("cookie", "Cookie: theme=dark; sid=".into(), mixed(24), "; lang=en"),
        (
            "discord-token",
            "bot ".into(),
            format!("MTA{}.Ga{}.{}", mixed(23), mixed(4), mixed(38)),
            " joins",
        ),
        ("azure-key", "(".into(), format!("{}JQQJ9{}", mixed(52), mixed(27)), ")"),
        ("salesforce-token", "sid ".into(), format!("00D{}!{}", mixed(12), mixed(90)), " ok"),
        ("mailchimp-key", "list ".into(), format!("{}-us12", hex(32)), " ok"),
        ("firebase-key", "push ".into(), format!("AAAA{}:APA91b{}", mixed(7), mixed(134)), " ok"),
        ("vendor-key", "used ".into(), format!("acme_live_{}", mixed(24)), " there"),
        ("seed-phrase", "the seed phrase is ".into(), ["abandon"; 12].join(" "), "."),
        ("app-password", "app password: ".into(), "abcd efgh ijkl mnop".into(), "."),
        ("azure-key", "(".into(), format!("{}+ASt{}==", mixed(76), mixed(6)), ")"),
        ("azure-key", "(".into(), format!("{}AzSe{}", mixed(42), mixed(6)), ")"),
        ("azure-key", "(".into(), format!("{}+AEh{}=", mixed(33), mixed(6)), ")"),
        (
            "authress-key",
            "used ".into(),
            format!("sc_{}.k3x9.acc_{}.{}", mixed(10), mixed(10), mixed(48)),
            " there",
        ),
        ("unleash-token", "unleash ".into(), format!("web:staging.{}", hex(64)), " works"),
        ("unleash-token", "flags ".into(), format!("web:staging.{}", hex(56)), " work"),
        (
            "aws-bedrock-key",
            "used ".into(),
            format!("bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{}", mixed(48)),
            " there",
        ),
        ("unleash-token", "flags ".into(), format!("*:production.{}", hex(56)), " work"),
        ("convex-key", "push ".into(), format!("prod:calm-otter-123|{}", mixed(60)), " works"),
        ("drawn-key", "1308742762612587|".into(), mixed(27), " works"),
        ("drawn-key", "the old s.".into(), mixed(24), " works"),
        (
            "webhook",
            String::new(),
            format!("https://acme.tines.com/webhook/{}/{}", hex(32), hex(32)),
            " runs",
        ),
        (
            "kubernetes-secret",
            "kind: Secret\ndata:\n\textra: ".into(),
            mixed(16),
            "\nmetadata:\n\tname: x",
        ),
    ]
}

#[test]
fn every_form_is_found_whole_and_what_is_around_it_stays() {
    for (rule, before, secret, after) in forms().into_iter().chain(more_forms()) {
        let text = format!("{before}{secret}{after}");
        assert_eq!(redacted(&text), format!("{before}[REDACTED:{rule}]{after}"), "{text}");
    }
    for (anchor, _) in anchors(TableKind::Shape).chain(anchors(TableKind::Place)) {
        assert!(rules(&format!("see {anchor} for that")).is_empty(), "{anchor}");
    }
}

#[test]
fn escapes_breaks_and_joints_do_not_hide_a_secret() {
    let body = mixed(36);
    let token = format!("{}_{body}", ["gh", "p"].concat());
    let (first, second) = token.split_at(20);
    let lab = ["gl", "pat"].concat();
    for text in [
        format!("x {first}\n   {second} y"),
        format!("x {first}\\n{second} y"),
        format!("x {first}\\\\n{second} y"),
        format!("a = \"{first}\" + \"{second}\""),
        format!("a = \"{first}\"\n    \"{second}\""),
        format!("{{\"lesson\":\"{{\\\"token\\\": \\\"{token}\\\"}}\"}}"),
        format!("{lab}\\u002d{body}"),
        format!("{lab}\\x2d{body}"),
        format!("https://x.example/?private_token={lab}%2d{body}&page=2"),
        format!("token = '{}' + '{}'", body.split_at(9).0, body.split_at(9).1),
    ] {
        assert!(hides(&text, body.split_at(18).1), "{}", redacted(&text));
    }
}

// S-WRITE-8
#[test]
fn a_quote_inside_a_quoted_argument_does_not_end_its_secret() {
    let (first, second) = (mixed(18), drawn(ALNUM, 18, 6));
    for text in [
        format!("\"--token={first}\\\"{second}\""),
        format!("[\"--token={first}\\\"{second}\", \"-v\"]"),
        format!("run -e \"API_TOKEN={first}\\\"{second}\" image"),
    ] {
        let clean = redacted(&text);
        assert!(!clean.contains(&first) && !clean.contains(&second), "{clean}");
    }
    // If the opening quote is escaped as well, the escaped quote ends the value.
    let listed = format!("{{\\\"args\\\": [\\\"--token={first}\\\", \\\"--verbose\\\"]}}");
    let expected = "{\\\"args\\\": [\\\"--token=[REDACTED:token]\\\", \\\"--verbose\\\"]}";
    assert_eq!(redacted(&listed), expected);
}

// S-WRITE-8
#[test]
fn an_escaped_quote_that_opens_before_the_name_ends_the_secret() {
    let value = mixed(24);
    for (before, after) in
        [("echo \\\"token=", "\\\"and then more"), ("{\\\"token\\\":", "\\\"kind\\\":1}")]
    {
        let expected = format!("{before}[REDACTED:token]{after}");
        assert_eq!(redacted(&format!("{before}{value}{after}")), expected);
    }
}

// S-WRITE-8
#[test]
fn a_mark_of_exclamation_makes_no_variable_of_a_password() {
    let password = ["!Correct", "horsebattery"].concat();
    let variable = ["!isCorrect", "horsebattery"].concat();
    let (divided, pointed) = (["Sesame_", "Open!Up"].concat(), ["Blue.", "Whale!"].concat());
    for (text, secret) in [
        (format!("password: {password}"), &password),
        (format!("password: \"{password}\""), &password),
        (format!("the password is {password}"), &password),
        (format!("mytool --password '{password}' --user x"), &password),
        (format!("password: \"{variable}\""), &variable),
        (format!("password: {divided}"), &divided),
        (format!("DB_PASSWORD=\"{pointed}\""), &pointed),
        (format!("password: !{divided}"), &divided),
    ] {
        assert!(!redacted(&text).contains(secret.as_str()), "{text}");
    }
}
