"""The clients of docs/protocol.md do what the document says."""

import ast
import json
import os
import re
import selectors
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from phsicd import PATIENCE, SMALL, SOURCE, Case, pairs_of

DOCUMENT = (SOURCE / "docs" / "protocol.md").read_text()
README = (SOURCE / "README.md").read_text()
DEFAULT = "tcp://127.0.0.1:7470"
DEFAULT_FEED = "tcp://127.0.0.1:7472"
PAIR = ["how are you", "fine, thanks"]


class Examples(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.d = self.daemon({"default": SMALL}, tcp=True)
        # Something to score with.
        self.d.own.learn(pairs_of(300) + [PAIR] * 50)
        self.d.ask("refresh", all=True)
        self.score = self.d.ask("score", pairs=[PAIR])["scores"][0]
        self.assertNotEqual(self.score, 0)

    def example(self, language, what=DEFAULT, document=DOCUMENT):
        """The document's only program in this language that has `what` in it, for this daemon."""
        texts = re.findall(rf"```{language}\n(.*?)```", document, re.DOTALL)
        (text,) = (text for text in texts if what in text)
        for name, endpoint in {"service": DEFAULT, "feed": DEFAULT_FEED}.items():
            text = text.replace(endpoint, self.d.endpoints[name][-1])
        return text

    def run_in_folder(self, *command):
        path = f"{Path(os.environ['PHSIC']).parent}:{os.environ['PATH']}"
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": path}, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_client_in_python_prints_the_score(self):
        printed = self.run_in_folder(sys.executable, "-c", self.example("python"))
        self.assertEqual(json.loads(printed), [self.score])

    def test_the_subscriber_in_python_prints_what_a_plain_score_publishes(self):
        program = self.example("python", DEFAULT_FEED)
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                              text=True) as subscriber:
            try:
                with selectors.DefaultSelector() as output:
                    output.register(subscriber.stdout, selectors.EVENT_READ)
                    while not output.select(0.02):  # until it has subscribed
                        self.d.ask("score", pairs=[{"x": PAIR[0], "y": PAIR[1], "id": "seen"}])
                topic, message = subscriber.stdout.readline().split(" ", 1)
            finally:
                subscriber.kill()
        message = ast.literal_eval(message)
        self.assertEqual((topic, message["id"]), ("default/score", "seen"))
        self.assertAlmostEqual(message["score"], self.score, 5)

    def test_the_client_of_readme_prints_an_answer(self):
        program = self.example("python", document=README)
        printed = self.run_in_folder(sys.executable, "-c", program)
        self.assertEqual(ast.literal_eval(printed)["learned"], 1)

    def test_the_commands_send_and_score(self):
        before = self.d.stats("default")
        printed = self.run_in_folder("bash", "-euc", self.example("sh")).splitlines()
        sent, first, second, *stats = printed
        first, second = first.split("\t"), second.split("\t")
        self.assertEqual(sent, "sent 2 pairs")
        self.assertEqual(first[:2], PAIR)
        self.assertAlmostEqual(float(first[2]), self.score, 3)
        self.assertEqual(second[:2], ["is it raining", "not any more"])
        self.assertLessEqual({"streams", "daemon"}, set(json.loads("".join(stats))))
        self.assertEqual(self.d.stats()["messages"], 1)
        self.d.ask("refresh")  # and so everything before it is learned
        self.assertEqual(self.d.stats("default")["pairs"], before["pairs"] + 4)

    def test_the_client_in_cplusplus_prints_the_answer(self):
        text = self.example("cpp")
        (self.folder / "client.cc").write_text(text)
        command = text.splitlines()[0].removeprefix("// ").split()
        self.assertEqual(command[0], "c++")
        self.run_in_folder(*command)
        answer = json.loads(self.run_in_folder("./client"))
        self.assertEqual(answer["scores"], [self.score])

    def test_the_document_names_the_endpoint_that_is_the_default(self):
        text = (SOURCE / "config" / "phsicd.yaml").read_text()
        self.assertIn(f"service: {DEFAULT}", text)
        self.assertIn(f"feed: {DEFAULT_FEED}", text)


if __name__ == "__main__":
    unittest.main()
