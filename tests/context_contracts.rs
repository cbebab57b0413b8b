//! Types and contracts that the code under test refers to (R22).

mod support;

use support::{Repo, texts};

fn shop() -> Repo {
    let body = "  const step = 1;\n".repeat(10);
    let shape = format!(
        "import {{ z }} from 'zod';\nexport const Shape = z.object({{ id: z.string() }});\n\
         export function parse(text: string): Shape {{\n{body}}}\n"
    );
    let others: Vec<(String, String)> = (0..12)
        .map(|n| (format!("src/a{n:02}.ts"), "x.frobnicate();\n".to_owned()))
        .collect();
    let mut files: Vec<(&str, &str)> = vec![
        (
            "src/order.test.ts",
            "import { order } from './order';\norder();\n",
        ),
        (
            "src/order.ts",
            "import { Shape } from './all';\nexport const order = () => Shape;\n",
        ),
        ("src/all.ts", "export * from './shared/shape';\n"),
        ("src/shared/shape.ts", &shape),
    ];
    files.extend(
        others
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let repo = Repo::with(&files);
    repo.write("log", "frobnicate failed\n");
    repo
}

#[test]
fn the_contract_behind_a_barrel_gets_a_place_as_signatures() {
    let repo = shop();
    let base = [
        "--target",
        "src/order.test.ts",
        "--log",
        "log",
        "--level",
        "2",
    ];
    let context = repo.context(&[&base[..], &["--max-files", "5"]].concat());
    let included = texts(&context["filesIncluded"], None);
    assert_eq!(included.len(), 6, "{included:?}");
    let files = context["files"].as_array().unwrap().iter();
    let mut contract = files.filter(|it| it["path"] == "src/shared/shape.ts");
    let last = contract.next().unwrap().clone();
    assert_eq!(
        (&last["role"], &last["mode"]),
        (&"closure".into(), &"skeleton".into())
    );
    let content = last["content"].as_str().unwrap();
    assert!(content.contains("export const Shape = z.object") && !content.contains("const step"));
    let why = last["why"].as_str().unwrap();
    assert!(
        why.contains("`Shape`") && why.contains("src/order.ts"),
        "{why}"
    );

    // Where there is room for all, each file is there once.
    let context = repo.context(&base);
    let mut all = texts(&context["filesIncluded"], None);
    all.sort();
    let count = all.len();
    all.dedup();
    assert_eq!((all.len(), count), (16, 16), "{all:?}");
}

#[test]
fn level_one_has_no_place_for_contracts() {
    let repo = shop();
    let base = [
        "--target",
        "src/order.test.ts",
        "--log",
        "log",
        "--level",
        "1",
    ];
    let context = repo.context(&[&base[..], &["--max-files", "3"]].concat());
    let included = texts(&context["filesIncluded"], None);
    assert!(
        !included.contains(&"src/shared/shape.ts".to_owned()),
        "{included:?}"
    );
}
