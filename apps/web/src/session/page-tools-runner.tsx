import { type ReactNode, useEffect, useState } from "react";
import { useServices } from "../app/services.ts";
import { ColourDialog } from "../tools/colour-dialog.tsx";
import type { ColourQuestion } from "../tools/page-tool.ts";
import { pageTools } from "../tools/page-tools.ts";
import { createToolRunner } from "../tools/tool-runner.ts";
import type { OpenSession } from "./open-session.ts";

interface Asked extends ColourQuestion {
  answer(colour: string | undefined): void;
}

/** Runs the tools of this page for a session, and shows what they ask. */
export function PageTools({ session }: { readonly session: OpenSession }): ReactNode {
  const { client, notices } = useServices();
  const [asked, setAsked] = useState<readonly Asked[]>([]);

  useEffect(() => {
    const runner = createToolRunner({
      tools: pageTools,
      answer: (results) => client.sessions.sendResults(session.sessionId, results),
      fail: notices.fail,
      pickColour: (question, signal) =>
        new Promise((resolve) => {
          const answer = (colour: string | undefined): void => {
            setAsked((now) => now.filter((each) => each !== mine));
            resolve(colour);
          };
          const mine: Asked = { ...question, answer };
          signal.addEventListener("abort", () => answer(undefined), { once: true });
          setAsked((now) => [...now, mine]);
        }),
    });
    const offer = (): void => runner.offer(session.read().view?.pendingToolCalls ?? []);
    offer();
    const leave = session.subscribe(offer);
    return () => {
      leave();
      runner.close();
    };
  }, [client, notices, session]);

  const first = asked[0];
  return first ? <ColourDialog prompt={first.prompt} suggestions={first.suggestions} onAnswer={first.answer} /> : null;
}
