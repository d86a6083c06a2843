import { textOf } from "@loopwright/core/protocol";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useWatched } from "../app/use-watched.ts";
import { finishedSentences, spoken } from "./finished-sentences.ts";
import type { OpenSession } from "./open-session.ts";

/** Reads the answer that is being written to a screen reader: finished sentences only, politely, then its end. */
export function Announcer({ session }: { readonly session: OpenSession }): ReactNode {
  const answer = useWatched(session, ({ view }) => view?.answer);
  const last = useWatched(session, ({ view }) => view?.path.at(-1));
  const status = useWatched(session, ({ view }) => view?.status);
  const lastRun = useWatched(session, ({ view }) => view?.lastRun);
  const [words, setWords] = useState("");
  const place = useRef({ lane: -1, upTo: 0 });
  const wasRunning = useRef(false);

  useEffect(() => {
    if (!answer) return;
    if (place.current.lane !== answer.lane) place.current = { lane: answer.lane, upTo: 0 };
    const text = answer.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    const { words: next, upTo } = finishedSentences(text, place.current.upTo);
    place.current.upTo = upTo;
    if (next !== "") setWords(next);
  }, [answer]);
  useEffect(() => {
    // Only answers that began while the page was open: an old session is not read out when it is opened.
    if (answer || place.current.lane < 0 || last?.message.role !== "assistant") return;
    const rest = spoken(textOf(last.message).slice(place.current.upTo));
    place.current = { lane: -1, upTo: 0 };
    if (rest !== "") setWords(rest);
  }, [answer, last]);
  useEffect(() => {
    if (status === "waiting") setWords("The answer waits for you.");
    if (status === "running") wasRunning.current = true;
    if (status !== "idle" || !wasRunning.current) return;
    wasRunning.current = false;
    if (lastRun?.status === "aborted") setWords("Stopped.");
    if (lastRun?.status === "failed") setWords("The answer failed.");
  }, [status, lastRun]);

  return (
    <p className="visually-hidden" aria-live="polite" aria-atomic="true">
      {words}
    </p>
  );
}
