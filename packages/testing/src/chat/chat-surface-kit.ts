import { isAgentError } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import type { ShownMessage, StatedButton, SurfaceUnderTest } from "./surface-under-test.ts";

const limitSeconds = 17;
const buttons: readonly StatedButton[] = [
  { id: "abcdefghijklmnopqrstuvwxyz234567-0123-y", label: "Allow" },
  { id: "abcdefghijklmnopqrstuvwxyz234567-0123-n", label: "Deny", isDangerous: true },
];

/** Texts that a vendor's markup may choke on. */
const awkward: readonly string[] = [
  "*unclosed **marks _and `ticks",
  "<b>not bold</b> & <!channel> <@U1> @everyone #general",
  "\\ \\* [text](javascript:alert(1)) [open](",
  "1 < 2 > 0 && \"quotes\" 'and' {{braces}} %20 \\u0000",
  "😀 ключ עברית ﷽ e\u0301",
  "```\ncode without an end",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  "> a quote\n>> within a quote\n\n- a list\n  - within a list\n    - and another",
  "-",
  "***",
];

const textsIn = (messages: readonly ShownMessage[]): readonly string[] => messages.map(({ text }) => text.trim());

/** Letters and digits of a text: what markup and layout leave as it was. */
const wordsOf = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, "");

async function failure(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error ?? new Error("It rejected with nothing.");
  }
}

const codeOf = (error: unknown): string =>
  isAgentError(error) ? error.code : error === undefined ? "no error" : `another error: ${error}`;

/** Everything of an error that a log may show. */
function shownOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error, depth = 0; at !== undefined && depth < 5; depth++) {
    parts.push(String(at), JSON.stringify(at) ?? "", at instanceof Error ? (at.stack ?? "") : "");
    at = at instanceof Error ? at.cause : undefined;
  }
  return parts.join("\n");
}

function partOf<Name extends "removeNewest" | "meet" | "limit" | "heal" | "sendRefused">(
  subject: SurfaceUnderTest,
  name: Name,
): NonNullable<SurfaceUnderTest[Name]> {
  const part = subject[name];
  if (part === undefined) throw new Error(`The subject has no \`${name}\`, and does not lack it.`);
  return part;
}

/** The promises of `ChatSurface`. */
export const chatSurfaceKit: StoreKit<SurfaceUnderTest> = [
  {
    id: "stated",
    promise: "its name has letters alone, it takes messages of at least 500 characters, and its waits are positive",
    async run(make) {
      const { surface } = await make();
      expectThat(/^[a-z]+$/.test(surface.name), `the name is ${surface.name}`);
      expectThat(surface.textCharsMax >= 500, `textCharsMax is ${surface.textCharsMax}`);
      for (const ms of [surface.interimAfterMs, surface.streamEveryMs]) expectThat(ms === undefined || ms > 0, `a wait is ${ms}`);
      expectThat((surface.commandSign ?? "/").length === 1, `the sign of commands is ${surface.commandSign}`);
    },
  },
  {
    id: "sent",
    promise: "a message is shown in its place and in no other, with its words, and each has an id of its own",
    async run(make) {
      const { surface, places, shown } = await make();
      const [here, there] = places;
      const ids = [await surface.send(here, "a **first** message"), await surface.send(here, "a _second_ one")];
      expectSame(textsIn(shown(here)), ["a first message", "a second one"], "what is shown");
      expectSame(shown(there), [], "what is shown in the other place");
      expectThat(ids[0] !== ids[1] && ids.every((id) => typeof id === "string" && id !== ""), `the ids are ${ids.join(" and ")}`);
    },
  },
  {
    id: "longest",
    promise: "a text of as many characters as it states is taken, and no word of it is lost",
    async run(make) {
      const { surface, places, shown } = await make();
      const line = "0123456789 abcdefghij\n";
      const texts = [line.repeat(surface.textCharsMax).slice(0, surface.textCharsMax), "x".repeat(surface.textCharsMax)];
      for (const [at, place] of places.entries()) {
        const text = texts[at] ?? "";
        await surface.send(place, text);
        expectSame(wordsOf(textsIn(shown(place)).join("\n")), wordsOf(text), "the words");
      }
    },
  },
  {
    id: "markup",
    promise: "no text is refused for its markup, and each arrives with its words",
    async run(make) {
      const { surface, places, shown } = await make();
      const [here] = places;
      for (const text of awkward) {
        await surface.send(here, text);
        expectSame(wordsOf(shown(here).at(-1)?.text ?? ""), wordsOf(text), `the words of ${text}`);
      }
    },
  },
  {
    id: "buttons",
    promise: "buttons are shown below their message in their order, with the ids that a press brings back",
    async run(make) {
      const { surface, places, shown } = await make();
      await surface.send(places[0], "May it run?", buttons);
      const [message] = shown(places[0]);
      expectSame(
        message?.buttons,
        buttons.map(({ id, label }) => ({ id, label })),
        "the buttons",
      );
    },
  },
  {
    id: "edit",
    promise: "an edit replaces the text and takes the buttons away, and the same edit once more succeeds",
    async run(make) {
      const { surface, places, shown } = await make();
      const [here] = places;
      await surface.send(here, "before");
      const id = await surface.send(here, "May it run?", buttons);
      const done = [await surface.edit(here, id, "**Allowed**"), await surface.edit(here, id, "**Allowed**")];
      expectSame(done, [true, true], "the edits");
      expectSame(textsIn(shown(here)), ["before", "Allowed"], "what is shown");
      expectSame(shown(here).at(-1)?.buttons, [], "the buttons");
    },
  },
  {
    id: "edit-longest",
    promise: "an edit takes as long a text as a message",
    async run(make) {
      const { surface, places, shown } = await make();
      const [here] = places;
      const text = "word ".repeat(surface.textCharsMax).slice(0, surface.textCharsMax).trim();
      expectSame(await surface.edit(here, await surface.send(here, "before"), text), true, "the edit");
      expectSame(wordsOf(textsIn(shown(here)).join("\n")), wordsOf(text), "the words");
    },
  },
  {
    id: "gone",
    promise: "an edit of a message that people have deleted is reported as not done, and not as an error",
    needs: ["deleted messages"],
    async run(make) {
      const subject = await make();
      const { surface, places, shown } = subject;
      const [here] = places;
      const id = await surface.send(here, "before");
      partOf(subject, "removeNewest")(here);
      expectSame(await surface.edit(here, id, "after"), false, "the edit");
      expectSame(textsIn(shown(here)).includes("after"), false, "whether the text is shown");
    },
  },
  {
    id: "file",
    promise: "a file is shown in its place under its name, with every character",
    async run(make) {
      const { surface, places, shown } = await make();
      const [here, there] = places;
      const file = { name: "answer.md", mediaType: "text/markdown", text: `# Заголовок 😀\r\n${"a line\n".repeat(20_000)}` };
      await surface.sendFile(here, file);
      const found = shown(here).find((message) => message.file);
      expectSame(found?.file, { name: file.name, text: file.text }, "the file");
      expectSame(shown(there), [], "what is shown in the other place");
    },
  },
  {
    id: "at-once",
    promise: "messages to two places at once arrive each in its own",
    async run(make) {
      const { surface, places, shown } = await make();
      const [here, there] = places;
      await Promise.all(Array.from({ length: 10 }, (_, at) => surface.send(at % 2 ? there : here, `message ${at}`)));
      expectSame(
        [...textsIn(shown(here))].sort(),
        [0, 2, 4, 6, 8].map((at) => `message ${at}`),
        "the first place",
      );
      expectSame(
        [...textsIn(shown(there))].sort(),
        [1, 3, 5, 7, 9].map((at) => `message ${at}`),
        "the second place",
      );
    },
  },
  {
    id: "working",
    promise: "the sign that an answer is being made is no message",
    async run(make) {
      const { surface, places, shown } = await make();
      await surface.showWorking(places[0]);
      await surface.showWorking(places[0]);
      expectSame(shown(places[0]), [], "what is shown");
    },
  },
  {
    id: "closed",
    promise: "where the bot may not write any more each method is FORBIDDEN, and other places are not concerned",
    needs: ["closed places"],
    async run(make) {
      const subject = await make();
      const { surface, places, shown } = subject;
      const [here, there] = places;
      const id = await surface.send(here, "before");
      partOf(subject, "meet")("closed", here);
      const file = { name: "a.txt", mediaType: "text/plain", text: "a" };
      const calls = [() => surface.send(here, "after"), () => surface.edit(here, id, "after"), () => surface.sendFile(here, file)];
      for (const call of calls) expectSame(codeOf(await failure(call)), "FORBIDDEN", "the error");
      await surface.send(there, "elsewhere");
      expectSame(textsIn(shown(there)), ["elsewhere"], "the other place");
    },
  },
  {
    id: "limit",
    promise: "what meets the vendor's limit is RATE_LIMITED, with the time that the vendor asks for, and succeeds afterwards",
    needs: ["limits"],
    async run(make) {
      const subject = await make();
      const { surface, places, shown } = subject;
      const [here] = places;
      partOf(subject, "limit")(here, limitSeconds);
      const error = await failure(() => surface.send(here, "too fast"));
      expectSame(codeOf(error), "RATE_LIMITED", "the error");
      expectSame(isAgentError(error) ? error.retryAfterMs : undefined, limitSeconds * 1_000, "the wait");
      partOf(subject, "heal")();
      await surface.send(here, "in time");
      expectSame(textsIn(shown(here)), ["in time"], "what is shown");
    },
  },
  {
    id: "limit-of-one",
    promise: "a limit of one place holds back no other one",
    needs: ["limits", "limits by place"],
    async run(make) {
      const subject = await make();
      const { surface, places, shown } = subject;
      const [here, there] = places;
      partOf(subject, "limit")(here, limitSeconds);
      await failure(() => surface.send(here, "too fast"));
      expectSame(await failure(() => surface.send(there, "elsewhere")), undefined, "the error elsewhere");
      expectSame(textsIn(shown(there)), ["elsewhere"], "the other place");
    },
  },
  {
    id: "outage",
    promise: "while the vendor fails each method rejects with an error that may pass, and succeeds once the vendor is back",
    needs: ["outages"],
    async run(make) {
      const subject = await make();
      const { surface, places, shown } = subject;
      const [here] = places;
      const id = await surface.send(here, "before");
      partOf(subject, "meet")("outage", here);
      const file = { name: "a.txt", mediaType: "text/plain", text: "a" };
      const calls = [() => surface.send(here, "after"), () => surface.edit(here, id, "after"), () => surface.sendFile(here, file)];
      for (const call of calls) {
        const error = await failure(call);
        const isPassing = isAgentError(error) && error.code !== "FORBIDDEN" && error.code !== "INPUT_INVALID";
        expectThat(isPassing, `the error is ${codeOf(error)}`);
      }
      partOf(subject, "heal")();
      await surface.send(here, "afterwards");
      expectSame(textsIn(shown(here)), ["before", "afterwards"], "what is shown");
    },
  },
  {
    id: "refused",
    promise: "what the vendor will never take is INPUT_INVALID, so that it is left out and not repeated",
    needs: ["refusals"],
    async run(make) {
      const subject = await make();
      expectSame(codeOf(await failure(partOf(subject, "sendRefused"))), "INPUT_INVALID", "the error");
    },
  },
  {
    id: "hidden",
    promise: "no error has a token of the bot or the text of a message",
    async run(make) {
      const canary = "words-of-a-person-0123456789";
      for (const fate of ["outage", "closed", "limit"] as const) {
        const subject = await make();
        const { surface, places, secrets } = subject;
        const [here] = places;
        if (fate === "limit") subject.limit?.(here, limitSeconds);
        else subject.meet?.(fate, here);
        const errors = [
          await failure(() => surface.send(here, canary, buttons)),
          await failure(() => surface.edit(here, "message-1", canary)),
          await failure(() => surface.sendFile(here, { name: "a.txt", mediaType: "text/plain", text: canary })),
        ];
        const shown = errors.map(shownOf).join("\n");
        for (const secret of [canary, ...secrets]) expectThat(!shown.includes(secret), `an error shows what it must not (${fate})`);
      }
    },
  },
];
