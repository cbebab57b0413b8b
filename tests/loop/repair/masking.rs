//! No secret that a run is given or meets reaches its agent or its folder.

use std::path::Path;

use super::world::World;

fn texts(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, found);
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            found.push((path.display().to_string(), text));
        }
    }
}

#[test]
fn never_sends_secret_flag_values() {
    let world = World::shell();
    // Written in two halves, so that no scanner takes this file for a leak.
    let token = ["ghp_", "oHBvRPOIvGrv5iFlbCBFNOgmBjMtps2jJyT3"].concat();
    let task = world.outside("task.md");
    std::fs::write(&task, format!("# Answer\n\nUse the key {token}.\n")).unwrap();
    let saw = world.outside("saw");
    let agent = world.script(&format!(
        "cat > {}\necho \"has $MODEL_API_KEY\" >&2\n\
         printf '{{\"status\":\"give_up\",\"notes\":\"key %s\"}}' \"$MODEL_API_KEY\"\n",
        saw.display()
    ));
    let output = world.repair(&[
        "--no-heal",
        "--max-attempts",
        "1",
        "--env",
        "DEPLOY_TOKEN=kq-deploy-value",
        "--agent-env",
        "MODEL_API_KEY=kq-model-value",
        "--task",
        task.to_str().unwrap(),
        "--test",
        "echo \"with $DEPLOY_TOKEN\"; printf %s \"$DEPLOY_TOKEN\" | base64; sh check.sh",
        "--agent",
        &agent,
    ]);
    let mut found = vec![
        ("agent".to_owned(), std::fs::read_to_string(&saw).unwrap()),
        (
            "terminal".to_owned(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        ),
    ];
    texts(&world.run_folder(), &mut found);
    assert!(found.len() > 6, "{} texts", found.len());
    assert!(found[0].1.contains("[REDACTED:github-token]"));
    for (name, text) in &found {
        for secret in [
            "kq-deploy-value", "a3EtZGVwbG95LXZhbHVl", "kq-model-value", &token,
        ] {
            assert!(!text.contains(secret), "{secret} in {name}: {text}");
        }
    }
    let notes = world.json("attempts/01/repair-packet.json");
    let masked = notes.to_string();
    assert!(
        masked.contains("[REDACTED:environment-variable]"),
        "{masked}"
    );
}
