import type { StreamDialect } from "@loopwright/server";

/** Counts what its stream carries, and names each kind `plain_<type>`. */
export const plainDialect: StreamDialect = {
  name: "plain",
  open({ runOf }) {
    let number = 0;
    const next = (): { readonly number: number } => ({ number: ++number });
    return {
      events: (session, events) =>
        events.map((event) => {
          const openRun = "seq" in event ? undefined : runOf(session);
          const data = { ...next(), session, ...(openRun === undefined ? {} : { openRun }) };
          return { event: `plain_${event.type}`, data, isSpare: event.type === "text_delta" };
        }),
      notification({ type, data }) {
        return [{ event: `plain_${type}`, data: { ...next(), ...(data === undefined ? {} : { data }) } }];
      },
    };
  },
};
