//! The judge of patches as a WebAssembly module for JavaScript.

use js_sys::{Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
import type { PatchVerdict } from "./mendit.js";

/** Text is UTF-8; bytes are what they are. */
export type Content = string | Uint8Array;

/** How a reply is judged; what is not said is as in `mendit check`. */
export interface JudgeOptions {
  /** Mend nothing. */
  strict?: boolean;
  /** Take the reply at its word: placeholders, whole files without their rest, text that no longer parses. */
  asWritten?: boolean;
  /** Apply the other way round. */
  reverse?: boolean;
  /** Leading components to strip from names; found out when not said. */
  strip?: number;
  /** A folder to put before every path. */
  directory?: string;
  /** Globs of protected files that may change. */
  allowProtected?: string[];
}
"#;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(typescript_type = "Record<string, Content>")]
    pub type Files;
    #[wasm_bindgen(typescript_type = "JudgeOptions")]
    pub type Options;
    #[wasm_bindgen(typescript_type = "Content")]
    pub type Content;
    #[wasm_bindgen(typescript_type = "PatchVerdict")]
    pub type Verdict;
    #[wasm_bindgen(typescript_type = "Record<string, Uint8Array | null>")]
    pub type After;
}

/// Judges replies against files: a path relative to the root of the repository for each.
#[wasm_bindgen]
pub struct Judge(mendit::Judge);

#[wasm_bindgen]
impl Judge {
    /// Throws for a name that is no path in a repository, and for a malformed glob.
    #[wasm_bindgen(constructor)]
    pub fn new(files: &Files, options: Option<Options>) -> Result<Judge, JsError> {
        let files: &JsValue = files.as_ref();
        let mut taken = Vec::new();
        for path in Object::keys(files.unchecked_ref::<Object>()) {
            let content = field(files, &path)?;
            taken.push((path.as_string().unwrap_or_default(), bytes(&content)?));
        }
        let mut judge = mendit::Judge::new(taken);
        if let Some(options) = options {
            let options: &JsValue = options.as_ref();
            let option = |name: &str| field(options, &name.into());
            judge = judge
                .strict(option("strict")?.is_truthy())
                .as_written(option("asWritten")?.is_truthy())
                .reverse(option("reverse")?.is_truthy())
                .directory(option("directory")?.as_string().unwrap_or_default());
            if let Some(strip) = option("strip")?.as_f64() {
                judge = judge.strip(strip as usize);
            }
            let globs = option("allowProtected")?;
            if js_sys::Array::is_array(&globs) {
                let globs: Vec<String> = js_sys::Array::from(&globs)
                    .iter()
                    .filter_map(|glob| glob.as_string())
                    .collect();
                judge = judge
                    .allow_protected(&globs)
                    .map_err(|error| JsError::new(&error))?;
            }
        }
        match judge.skipped().first() {
            Some(one) => Err(JsError::new(&format!("{:?}: {}", one.lossy_path, one.reason))),
            None => Ok(Self(judge)),
        }
    }

    /// Judges a patch in any form that is read, with whatever surrounds it.
    pub fn judge(&self, reply: &Content) -> Result<Judged, JsError> {
        Ok(Judged(self.0.judge(bytes(reply.as_ref())?)))
    }
}

/// A verdict and what the files would be.
#[wasm_bindgen]
pub struct Judged(mendit::patch::Judged);

#[wasm_bindgen]
impl Judged {
    /// Whether the reply applies, mended or not.
    #[wasm_bindgen(getter)]
    pub fn applies(&self) -> bool {
        self.0.applies()
    }

    /// What the author of the patch needs to know; empty when it applies.
    #[wasm_bindgen(getter)]
    pub fn feedback(&self) -> String {
        self.0.verdict.feedback.clone()
    }

    /// The code of the first error, such as `P403`.
    #[wasm_bindgen(getter, js_name = errorCode)]
    pub fn error_code(&self) -> Option<String> {
        self.0.verdict.error_code.map(|code| code.to_string())
    }

    /// The document `patch-verdict`, as `mendit check --format json` prints it.
    #[wasm_bindgen(getter)]
    pub fn verdict(&self) -> Result<Verdict, JsError> {
        let json = self.0.to_json()?;
        js_sys::JSON::parse(&json)
            .map(JsCast::unchecked_into)
            .map_err(|_| JsError::new("the verdict is no JSON"))
    }

    /// Each path that changes and what it holds then, `null` for a file that goes; empty unless the
    /// reply applies.
    #[wasm_bindgen(getter)]
    pub fn files(&self) -> Result<After, JsError> {
        let files = Object::new();
        for change in &self.0.changes {
            let content = match &change.after {
                Some(state) => Uint8Array::from(&*state.bytes).into(),
                None => JsValue::NULL,
            };
            Reflect::set(&files, &change.path.as_str().into(), &content)
                .map_err(|_| JsError::new("an object takes no field"))?;
        }
        Ok(files.unchecked_into())
    }
}

fn field(object: &JsValue, name: &JsValue) -> Result<JsValue, JsError> {
    Reflect::get(object, name).map_err(|_| JsError::new("not an object"))
}

fn bytes(content: &JsValue) -> Result<Vec<u8>, JsError> {
    if let Some(text) = content.as_string() {
        return Ok(text.into_bytes());
    }
    match content.dyn_ref::<Uint8Array>() {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Err(JsError::new("a content is a string or a Uint8Array")),
    }
}
