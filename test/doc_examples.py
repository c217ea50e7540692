"""Runs wok-opt on every mlir block of the reference pages that `ninja wok-doc` generates.

usage: doc_examples.py WOK_OPT DOCS_DIR
"""

import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```mlir\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main() -> int:
    wok_opt, docs = sys.argv[1], pathlib.Path(sys.argv[2])
    blocks = [
        (page, page.read_text()[: match.start()].count("\n") + 1, match.group(1))
        for page in sorted(docs.glob("*.md"))
        for match in BLOCK.finditer(page.read_text())
    ]
    # A change of the generator's format must not make this test pass by finding nothing.
    if len(blocks) < 50:
        print(f"only {len(blocks)} examples in {docs}", file=sys.stderr)
        return 1
    failed = 0
    for page, line, text in blocks:
        run = subprocess.run(
            [wok_opt, "--verify-roundtrip", "-o", "/dev/null", "-"],
            input=text,
            capture_output=True,
            text=True,
        )
        if run.returncode:
            failed += 1
            print(f"{page}:{line}: example does not verify\n{run.stderr}", file=sys.stderr)
    print(f"{len(blocks)} examples, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
