import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreCase } from "../kit/store-case.ts";
import { sampleBody as body, writeFacts } from "../samples/sample-conversation.ts";
import { type IndexUnderTest, searched } from "./index-under-test.ts";

async function withTexts(subject: IndexUnderTest, texts: { readonly [session: string]: string }): Promise<IndexUnderTest> {
  for (const [session, text] of Object.entries(texts)) await writeFacts(subject.log, { session }, [body.opened(), body.input(text)]);
  return subject;
}

async function found({ index }: IndexUnderTest, query: string): Promise<readonly string[]> {
  return (await index.search("local", query)).map(({ session }) => session.id).sort();
}

const casesOfSearch: readonly StoreCase<IndexUnderTest>[] = [
  {
    id: "search-messages",
    promise: "words of users and of the model are found, at once after they were written; words of tools are not",
    async run(make) {
      const subject = await withTexts(await make(), { first: "apples" });
      expectSame(await found(subject, "apples"), ["first"], "a user's word");
      expectSame(await found(subject, "cider"), [], "a word not yet written");
      await writeFacts(subject.log, { session: "first" }, [body.answer("Make cider."), body.toolFinished("r1.1.0", "zzz")]);
      expectSame(await found(subject, "cider"), ["first"], "the model's word");
      expectSame(await found(subject, "zzz"), [], "a tool's word");
    },
  },
  {
    id: "search-context",
    promise: "words of the messages a session was opened with are found",
    async run(make) {
      const subject = await make();
      await writeFacts(subject.log, { session: "first" }, [body.opened({ context: [{ role: "user", content: "apples" }] })]);
      expectSame(await found(subject, "apples"), ["first"], "found");
    },
  },
  {
    id: "search-title",
    promise: "words of the title are found, and those of an earlier title no longer",
    async run(make) {
      const subject = await make();
      await writeFacts(subject.log, { session: "first" }, [body.opened({ title: "Orchard" })]);
      expectSame(await found(subject, "orchard"), ["first"], "the title");
      await writeFacts(subject.log, { session: "first" }, [body.titled("Garden")]);
      expectSame([await found(subject, "garden"), await found(subject, "orchard")], [["first"], []], "the new and the old title");
    },
  },
  {
    id: "search-all-words",
    promise: "a session is found when it holds all words, in one message or over several",
    async run(make) {
      const subject = await withTexts(await make(), { first: "red apples", second: "red cherries" });
      await writeFacts(subject.log, { session: "first" }, [body.answer("and pears")]);
      expectSame(await found(subject, "red"), ["first", "second"], "one word");
      expectSame(await found(subject, "apples red"), ["first"], "two words of a message");
      expectSame(await found(subject, "pears red"), ["first"], "words of two messages");
      expectSame(await found(subject, "pears cherries"), [], "words of two sessions");
    },
  },
  {
    id: "search-folded",
    promise: "case and accents do not matter, on either side",
    async run(make) {
      const subject = await withTexts(await make(), { first: "Crème BRÛLÉE", second: "creme e\u0301clair" });
      expectSame(await found(subject, "creme brulee"), ["first"], "plain query");
      expectSame(await found(subject, "CRÈME"), ["first", "second"], "accented query");
      expectSame(await found(subject, "éclair"), ["second"], "composed query, decomposed text");
    },
  },
  {
    id: "search-beginnings",
    promise: "a word finds longer words that begin with it, and none that hold it further on",
    needs: ["beginnings"],
    async run(make) {
      const subject = await withTexts(await make(), { first: "deployment", second: "redeploy" });
      expectSame(await found(subject, "deploy"), ["first"], "found");
    },
  },
  {
    id: "search-unspaced",
    promise: "words in scripts without spaces are found",
    async run(make) {
      const subject = await withTexts(await make(), { first: "今天的天气很好", second: "我喜欢苹果" });
      expectSame(await found(subject, "天气"), ["first"], "in the middle of a sentence");
    },
  },
  {
    id: "search-plain-words",
    promise: "signs of query languages are no more than spaces, and a query without a word finds nothing",
    async run(make) {
      const subject = await withTexts(await make(), { first: "one NEAR two, not AND three", second: "one" });
      for (const query of [
        '"one" AND (two)',
        "one:two*",
        "one -two",
        "^one + two",
        "one NEAR two",
        "'one' two;--",
        'one " two',
        "{one} two OR",
      ])
        expectThat(!(await found(subject, query)).includes("second"), `\`${query}\` was taken for a query language`);
      expectSame(await found(subject, "one:two* -(NEAR)"), ["first"], "words among signs");
      expectSame([await found(subject, ""), await found(subject, '"*" - ()')], [[], []], "no word at all");
    },
  },
  {
    id: "search-excerpt",
    promise: "an excerpt is a piece of plain text around a match, at most 200 characters long",
    async run(make) {
      const { index } = await withTexts(await make(), { first: `${"before ".repeat(200)}<b>Apple</b>\n tree ${"after ".repeat(200)}` });
      const [hit] = await index.search("local", "apple");
      expectThat(
        hit !== undefined && hit.excerpt.length <= 200 && hit.excerpt.includes("<b>Apple</b> tree"),
        `the excerpt was ${hit?.excerpt}`,
      );
      expectThat(hit.excerpt.includes("before") && hit.excerpt.includes("after"), `the excerpt was ${hit.excerpt}`);
    },
  },
  {
    id: "search-limit",
    promise: "a search gives no more than its limit",
    async run(make) {
      const { index } = await withTexts(await make(), { first: "apples", second: "apples", third: "apples" });
      expectSame((await index.search("local", "apples", { limit: 2 })).length, 2, "hits");
    },
  },
  {
    id: "search-best-first",
    promise: "a session that is about the words comes before one that mentions them once",
    async run(make) {
      const { index } = await withTexts(await make(), {
        about: "apples apples apples",
        mention: `apples ${"and other things ".repeat(60)}`,
      });
      expectSame(
        (await index.search("local", "apples")).map(({ session }) => session.id),
        ["about", "mention"],
        "the order",
      );
      const other = await withTexts(await make(), { mention: `${"and other things ".repeat(60)} apples`, about: "apples apples apples" });
      expectSame(
        (await other.index.search("local", "apples")).map(({ session }) => session.id),
        ["about", "mention"],
        "whatever was written first",
      );
    },
  },
];

/** Searching. Capability `search`: a store that lacks it refuses every search. */
export const searchCases: readonly StoreCase<IndexUnderTest>[] = [
  {
    id: "search-refused",
    promise: "a search is answered, or refused with SEARCH_UNSUPPORTED where the store has none, also one for no word",
    async run(make) {
      const { index } = await withTexts(await make(), { first: "apples" });
      const answers = [await searched(index, "apples"), await searched(index, "  ")];
      expectSame(new Set(answers.map((answer) => answer === undefined)).size, 1, "kinds of answers");
    },
  },
  ...casesOfSearch.map((one): StoreCase<IndexUnderTest> => ({ ...one, needs: [...(one.needs ?? []), "search"] })),
];
