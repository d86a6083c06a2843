import { type ReactNode, useMemo, useState } from "react";
import { ServicesContext } from "./app/services.ts";
import { App } from "./app.tsx";
import { createServices } from "./create-services.ts";

/** The page, which begins anew when its user or its team changes: nothing that was read before is left. */
export function PageRoot(): ReactNode {
  const [start, setStart] = useState<{ readonly count: number; readonly words?: string | undefined }>({ count: 0 });
  const services = useMemo(() => {
    const made = createServices((words) => setStart(({ count }) => ({ count: count + 1, words })));
    if (start.words !== undefined) made.notices.say(start.words);
    return made;
  }, [start]);
  return (
    <ServicesContext value={services}>
      <App key={start.count} />
    </ServicesContext>
  );
}
