import { expect, it } from "vitest";
import { finishedSentences } from "./finished-sentences.ts";

it("only sentences that are over are read out, each once", () => {
  const pieces = ["A loop", " goes on. It nev", "er stops! And", " then\nit did. "];
  let text = "";
  let from = 0;
  const received: string[] = [];
  for (const piece of pieces) {
    text += piece;
    const { words, upTo } = finishedSentences(text, from);
    from = upTo;
    if (words !== "") received.push(words);
  }
  expect(received).toEqual(["A loop goes on.", "It never stops!", "And then it did."]);
});

it("a number with a point in it is no end of a sentence", () => {
  expect(finishedSentences("Pi is 3.14 or so", 0)).toEqual({ words: "", upTo: 0 });
});

it("signs of Markdown are not read out", () => {
  const { words } = finishedSentences("## A **bold** `word`\n- see [the page](https://x.example/y).\n| a | b |\n|---|---|\n", 0);
  expect(words).toBe("A bold word see the page. a b");
});
