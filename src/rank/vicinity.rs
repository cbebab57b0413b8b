use super::score::{Scores, exp2_minus};
use crate::model::RepoPath;

/// Files beside the best ones, which stand in order: half for each step between the directories.
pub(super) fn vicinity(pool: &[RepoPath], best: &[RepoPath]) -> Scores {
    let places: Vec<Vec<&str>> = best.iter().map(parts).collect();
    pool.iter()
        .map(|path| {
            let own = parts(path);
            let near = places.iter().zip(1_u32..).map(|(place, rank)| {
                let shared = own.iter().zip(place).take_while(|(a, b)| a == b).count();
                let steps = own.len() + place.len() - 2 * shared;
                exp2_minus(steps as f64) / f64::from(rank)
            });
            near.sum()
        })
        .collect()
}

fn parts(path: &RepoPath) -> Vec<&str> {
    let directory = path.directory().split('/');
    directory.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::vicinity;
    use crate::model::RepoPath;

    #[test]
    fn the_same_directory_is_nearest() {
        let path = |text| RepoPath::new(text).unwrap();
        let pool = ["a/b/x.py", "a/y.py", "c/z.py", "a/b/best.py"].map(path);
        let scores = vicinity(&pool, &[path("a/b/best.py")]);
        assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
        assert!(scores[3] <= scores[0], "{scores:?}");
    }
}
