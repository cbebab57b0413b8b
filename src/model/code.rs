use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($code:ident)*) => {
        /// The stable name of one reason why something was refused, left out or mended.
        ///
        /// The first letter is the family (P patch, M mend, C context, R runner, L loop,
        /// F fixtures, U usage and environment), the first digit the group inside it. Every code
        /// has a page that `mendit explain CODE` prints; `tests/tidy.rs` holds the two together.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = concat!("`mendit explain ", stringify!($code), "`")] $code,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$code),*];

            /// The name, such as `C101`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => stringify!($code),)*
                }
            }
        }
    };
}

codes! {
    P101 P102 P103 P104 P105 P106
    P201 P202 P204 P205 P206 P208
    P302 P303 P305 P306 P307 P308 P309 P310 P311
    P401 P402 P403 P404 P406 P407 P408 P410
    P501 P502 P503 P504 P505 P506 P507 P508 P509 P511 P512
    P601 P602 P603 P604 P605
    P701 P702 P703 P704 P705 P706 P707
    P801 P802
    P901 P902 P903 P904 P905 P906
    M101 M102 M103 M104
    M201 M202 M203 M204 M205 M206 M207
    M301 M302 M303 M304 M305 M306
    M401 M402 M403 M404 M405 M406 M407 M408 M409 M410 M411 M412 M413 M414 M415 M416
    C101 C102 C103 C104 C105 C110 C111
    C201 C202 C203 C204 C205 C206 C220
    C301 C302 C303 C304 C305 C306 C307 C308 C309 C310 C311 C320
    R101 R102 R103 R104 R105 R106 R107
    R201 R202 R203 R204 R205 R206 R207 R208 R209 R210 R211 R212
    R301 R302 R303 R304
    L101 L102 L103 L104 L105
    F101 F102 F103 F104 F105
    F201 F202 F203 F204 F205
    F301 F302 F303 F304 F305 F306 F307
    U101 U102 U103 U104 U105
    U201 U202 U203 U204
    U301 U302 U303 U304 U305 U306
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A stable code; `mendit explain CODE` says what it means.",
            "type": "string",
            "pattern": "^[A-Z][0-9]{3}$",
        })
    }
}

/// What `mendit explain` prints for one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CodePage {
    /// The code itself.
    pub code: Code,
    /// One line: what happened.
    pub title: &'static str,
    /// Markdown: why, and what to do.
    pub body: &'static str,
}

// One Markdown file per family; a page starts with `## CODE title`.
const PAGES: &[&str] = &[
    include_str!("codes/context.md"),
    include_str!("codes/fixtures.md"),
    include_str!("codes/policy.md"),
    include_str!("codes/mend.md"),
    include_str!("codes/patch.md"),
    include_str!("codes/runner.md"),
    include_str!("codes/usage.md"),
    include_str!("codes/loop.md"),
];

/// Every page, in the order of the codes.
#[must_use]
pub fn code_pages() -> Vec<CodePage> {
    let mut pages: Vec<CodePage> = PAGES.iter().flat_map(|file| parse_pages(file)).collect();
    pages.sort_by_key(|page| page.code);
    pages
}

/// The page of one code, whatever the case it is typed in.
#[must_use]
pub fn explain(code: &str) -> Option<CodePage> {
    code_pages()
        .into_iter()
        .find(|page| page.code.as_str().eq_ignore_ascii_case(code.trim()))
}

fn parse_pages(file: &'static str) -> impl Iterator<Item = CodePage> {
    file.split("\n## ").skip(1).filter_map(|page| {
        let (head, body) = page.split_once('\n').unwrap_or((page, ""));
        let (code, title) = head.split_once(' ').unwrap_or((head, ""));
        let code = Code::ALL.iter().find(|it| it.as_str() == code)?;
        Some(CodePage {
            code: *code,
            title: title.trim(),
            body: body.trim(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{Code, code_pages, explain};

    #[test]
    fn every_page_has_a_title_and_a_remedy() {
        for page in code_pages() {
            assert!(!page.title.is_empty(), "{} has no title", page.code);
            assert!(page.body.len() > 40, "{} says too little", page.code);
        }
    }

    #[test]
    fn codes_are_found_in_any_case() {
        assert_eq!(explain("c101").unwrap().code, Code::C101);
        assert!(explain("C999").is_none());
    }
}
