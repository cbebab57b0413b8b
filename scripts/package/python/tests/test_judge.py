"""What the module promises; run by `scripts/package/python.sh` in an environment that holds it."""

import unittest

from mendit_judge import Judge

FILES = {"src/a.py": "def f():\n    return 1\n", "b.bin": b"\xff\x00"}
DIFF = "--- a/src/a.py\n+++ b/src/a.py\n@@ ... @@\n def f():\n-    return 1\n+    return 2\n"


class JudgeTest(unittest.TestCase):
    def test_a_reply_that_applies_says_what_the_files_would_be(self):
        judged = Judge(FILES).judge(f"Sure:\n\n```diff\n{DIFF}```\n")
        self.assertTrue(judged.applies)
        self.assertEqual(judged.files, {"src/a.py": b"def f():\n    return 2\n"})
        self.assertEqual(judged.verdict["verdict"], "applies_mended")
        self.assertIn("+    return 2", judged.verdict["canonicalPatch"])
        self.assertEqual((judged.feedback, judged.error_code), ("", None))

    def test_a_reply_that_does_not_apply_says_why(self):
        judged = Judge(FILES).judge(DIFF.replace("return 1", "return 7").encode())
        self.assertFalse(judged.applies)
        self.assertEqual(judged.error_code, "P402")
        self.assertIn("return 1", judged.feedback)
        self.assertEqual(judged.files, {})
        self.assertIn("0 errors" if judged.applies else "Judged", repr(judged))

    def test_a_file_that_goes_is_none(self):
        patch = "*** Begin Patch\n*** Delete File: src/a.py\n*** End Patch\n"
        self.assertEqual(Judge(FILES).judge(patch).files, {"src/a.py": None})

    def test_options_are_those_of_the_program(self):
        edit = '{"path": "Makefile", "old": "all:", "new": "all: x"}'
        files = {"Makefile": "all:\n"}
        self.assertEqual(Judge(files).judge(edit).error_code, "P701")
        self.assertTrue(Judge(files, allow_protected=["Makefile"]).judge(edit).applies)
        placeholder = DIFF.replace("    return 2", "    # ... rest unchanged ...")
        self.assertEqual(Judge(FILES).judge(placeholder).error_code, "P312")

    def test_what_is_no_path_or_glob_is_an_error(self):
        for call in (lambda: Judge({"../a": ""}), lambda: Judge({}, allow_protected=["["])):
            with self.assertRaises(ValueError):
                call()
        with self.assertRaises(TypeError):
            Judge({"a": 1})


if __name__ == "__main__":
    unittest.main()
