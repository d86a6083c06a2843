import { expect, it } from "vitest";
import { createDrafts, draftTextMax, emptyDraft } from "./drafts.ts";
import { passingText } from "./kept-text.ts";

it("a draft outlives the page that wrote it", () => {
  const kept = passingText();
  const draft = { text: "half a thou", files: [{ blob: "b1", mediaType: "image/png", sizeBytes: 3 }], key: "k" };
  createDrafts(kept).set("s1", draft);
  expect(createDrafts(kept).get("s1")).toEqual(draft);
  expect(createDrafts(kept).get("s2")).toEqual(emptyDraft);
});

it("a draft of one team is not seen in another, not even that of a conversation which does not exist yet", () => {
  const kept = passingText();
  const draft = { text: "to the gardeners", files: [] };
  createDrafts(kept).set("", draft);
  expect(createDrafts(kept, "kitchen").get("")).toEqual(emptyDraft);
  createDrafts(kept, "kitchen").set("", { text: "to the cooks", files: [] });
  expect([createDrafts(kept).get("").text, createDrafts(kept, "kitchen").get("").text]).toEqual(["to the gardeners", "to the cooks"]);
});

it("an empty draft and a cleared one leave nothing behind", () => {
  const kept = passingText();
  const drafts = createDrafts(kept);
  drafts.set("s1", { text: "x", files: [] });
  drafts.set("s1", emptyDraft);
  drafts.set("s2", { text: "y", files: [] });
  drafts.clear("s2");
  expect(kept.keys()).toEqual([]);
  expect(drafts.get("s2")).toEqual(emptyDraft);
});

it("a value that another program wrote in its place is no draft", () => {
  const kept = passingText();
  for (const text of ["{", "7", '{"text":4,"files":[{"blob":1}]}', '{"files":"no"}']) {
    kept.set("draft.s1", text);
    expect(createDrafts(kept).get("s1")).toEqual(emptyDraft);
  }
});

it("of more than a hundred drafts the oldest go, and a huge text is not kept", () => {
  const kept = passingText();
  for (let count = 0; count < 100; count++) kept.set(`draft.s${count}`, JSON.stringify({ text: "x", files: [], at: count + 1 }));
  const drafts = createDrafts(kept);
  drafts.set("new", { text: "n", files: [] });
  expect(kept.keys()).toHaveLength(100);
  expect(kept.get("draft.s0")).toBeUndefined();
  drafts.set("huge", { text: "x".repeat(draftTextMax + 1), files: [] });
  expect(kept.get("draft.huge")).toBeUndefined();
  expect(drafts.get("huge").text).toHaveLength(draftTextMax + 1);
});
