import { AgentError } from "@loopwright/core";
import type { ShownMessage, StatedSurface, SurfaceUnderTest, VendorFate } from "../../src/chat/surface-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";

const token = "token-of-the-bot-0123456789";
const [here, there] = ["kitchen", "garden"];

interface Kept extends ShownMessage {
  readonly id: string;
  readonly place: string;
}

/** A vendor in memory that shows Markdown without its marks. */
interface Vendor {
  readonly surface: StatedSurface;
  readonly messages: Kept[];
  fate: { readonly fate: VendorFate | "limit"; readonly place: string; readonly seconds: number } | undefined;
}

const plain = (markdown: string): string => markdown.replace(/\*\*(\w+)\*\*|_(\w+)_/g, "$1$2");

/** How the vendor refuses a request to a place. */
function refuse({ fate: met }: Vendor, place: string): void {
  if (!met || (met.fate !== "outage" && met.place !== place)) return;
  if (met.fate === "closed") throw new AgentError("FORBIDDEN", { message: "The bot may not write there." });
  if (met.fate === "outage") throw new AgentError("NOT_READY", { message: "The vendor did not answer." });
  throw new AgentError("RATE_LIMITED", { message: "Too fast.", retryAfterMs: met.seconds * 1_000 });
}

function honestVendor(): Vendor {
  let count = 0;
  const messages: Kept[] = [];
  const vendor: Vendor = {
    messages,
    fate: undefined,
    surface: {
      ...{ name: "memory", textCharsMax: 1_000, interimAfterMs: 10, streamEveryMs: 10, commandSign: "!" },
      async send(place, markdown, buttons = []) {
        refuse(vendor, place);
        if (markdown === "") throw new AgentError("INPUT_INVALID", { message: "A message has no text." });
        const id = `message-${++count}`;
        messages.push({ id, place, text: plain(markdown), buttons: buttons.map((button) => ({ id: button.id, label: button.label })) });
        return id;
      },
      async edit(place, message, markdown) {
        refuse(vendor, place);
        const at = messages.findIndex(({ id }) => id === message);
        const found = messages[at];
        if (found) messages[at] = { ...found, text: plain(markdown), buttons: [] };
        return found !== undefined;
      },
      async sendFile(place, { name, text }) {
        refuse(vendor, place);
        messages.push({ id: `message-${++count}`, place, text: "", buttons: [], file: { name, text } });
      },
      async showWorking(place) {
        refuse(vendor, place);
      },
    },
  };
  return vendor;
}

function subjectOf(vendor: Vendor, surface: StatedSurface): SurfaceUnderTest {
  const { messages } = vendor;
  return {
    ...{ surface, places: [here, there], secrets: [token] },
    shown: (wanted) =>
      messages
        .filter(({ place }) => place === wanted)
        .map(({ text, buttons, file }) => ({ text, buttons, ...(file === undefined ? {} : { file }) })),
    removeNewest: (place) =>
      void messages.splice(
        messages.findLastIndex((message) => message.place === place),
        1,
      ),
    meet(fate, place) {
      vendor.fate = { fate, place, seconds: 0 };
    },
    limit(place, seconds) {
      vendor.fate = { fate: "limit", place, seconds };
    },
    heal() {
      vendor.fate = undefined;
    },
    sendRefused: () => surface.send(here, ""),
  };
}

/** An honest surface for the kit. */
export async function makeMemorySurface(): Promise<SurfaceUnderTest> {
  const vendor = honestVendor();
  return subjectOf(vendor, vendor.surface);
}

const spoiled = (spoil: (honest: StatedSurface, vendor: Vendor) => Partial<StatedSurface>) => async (): Promise<SurfaceUnderTest> => {
  const vendor = honestVendor();
  return subjectOf(vendor, { ...vendor.surface, ...spoil(vendor.surface, vendor) });
};

/** Passes errors on as another one. */
const rethrown =
  (change: (error: AgentError) => Error) =>
  async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      throw error instanceof AgentError ? change(error) : error;
    }
  };

/** A surface whose errors are changed. */
const withErrors = (change: (error: AgentError, text: string) => Error) =>
  spoiled((honest) => ({
    send: (place, markdown, buttons) => rethrown((error) => change(error, markdown))(honest.send(place, markdown, buttons)),
    edit: (place, message, markdown) => rethrown((error) => change(error, markdown))(honest.edit(place, message, markdown)),
    sendFile: (place, file) => rethrown((error) => change(error, file.text))(honest.sendFile(place, file)),
  }));

/** Defects of chat surfaces. */
export const chatSurfaceSaboteurs: readonly Saboteur<SurfaceUnderTest>[] = [
  {
    defect: "has a name that is no part of a key",
    breaks: ["stated"],
    make: spoiled(() => ({ name: "my:chat" })),
  },
  {
    defect: "sends everything to the place that was written to first",
    breaks: ["at-once", "closed", "limit-of-one", "longest"],
    make: spoiled((honest) => {
      let first: string | undefined;
      return {
        send(place, markdown, buttons) {
          first ??= place;
          return honest.send(first, markdown, buttons);
        },
      };
    }),
  },
  {
    defect: "gives each message the same id",
    breaks: ["edit", "edit-longest", "sent"],
    make: spoiled((honest) => ({
      async send(place, markdown, buttons) {
        await honest.send(place, markdown, buttons);
        return "message";
      },
    })),
  },
  {
    defect: "cuts long messages",
    breaks: ["longest"],
    make: spoiled((honest) => ({ send: (place, markdown, buttons) => honest.send(place, markdown.slice(0, 900), buttons) })),
  },
  {
    defect: "cuts long texts when it changes a message",
    breaks: ["edit-longest"],
    make: spoiled((honest) => ({ edit: (place, message, markdown) => honest.edit(place, message, markdown.slice(0, 900)) })),
  },
  {
    defect: "sends markup that its vendor refuses where it is not closed",
    breaks: ["markup"],
    make: spoiled((honest) => ({
      async send(place, markdown, buttons) {
        if ((markdown.match(/`/g)?.length ?? 0) % 2 === 1) throw new AgentError("INPUT_INVALID", { message: "can't parse entities" });
        return honest.send(place, markdown, buttons);
      },
    })),
  },
  {
    defect: "has HTML taken for markup",
    breaks: ["markup"],
    make: spoiled((honest) => ({ send: (place, markdown, buttons) => honest.send(place, markdown.replace(/<[^>]+>/g, ""), buttons) })),
  },
  {
    defect: "cuts the ids of buttons",
    breaks: ["buttons"],
    make: spoiled((honest) => ({
      send: (place, markdown, buttons) =>
        honest.send(
          place,
          markdown,
          buttons?.map((button) => ({ ...button, id: button.id.slice(0, 32) })),
        ),
    })),
  },
  {
    defect: "leaves the buttons below a message that was changed",
    breaks: ["edit"],
    make: spoiled((honest, { messages }) => ({
      async edit(place, message, markdown) {
        const before = messages.find(({ id }) => id === message);
        const isDone = await honest.edit(place, message, markdown);
        const at = messages.findIndex(({ id }) => id === message);
        const after = messages[at];
        if (after && before) messages[at] = { ...after, buttons: before.buttons };
        return isDone;
      },
    })),
  },
  {
    defect: "reports each edit as done",
    breaks: ["gone"],
    make: spoiled((honest) => ({
      async edit(place, message, markdown) {
        await honest.edit(place, message, markdown);
        return true;
      },
    })),
  },
  {
    defect: "sends files in another encoding",
    breaks: ["file"],
    make: spoiled((honest) => ({
      sendFile: (place, file) => honest.sendFile(place, { ...file, text: file.text.replace(/[^\p{ASCII}]/gu, "?") }),
    })),
  },
  {
    defect: "writes a message that it works",
    breaks: ["working"],
    make: spoiled((honest) => ({ showWorking: async (place) => void (await honest.send(place, "…")) })),
  },
  {
    defect: "reports a closed place as an outage",
    breaks: ["closed"],
    make: withErrors((error) => (error.code === "FORBIDDEN" ? new AgentError("NOT_READY", { message: "It did not work." }) : error)),
  },
  {
    defect: "does not pass on how long to wait",
    breaks: ["limit"],
    make: withErrors((error) => (error.code === "RATE_LIMITED" ? new AgentError("RATE_LIMITED", { message: "Too fast." }) : error)),
  },
  {
    defect: "sends nothing anywhere after a limit of one place",
    breaks: ["limit-of-one"],
    make: spoiled((honest, vendor) => {
      let limit: unknown;
      return {
        async send(place, markdown, buttons) {
          if (vendor.fate && limit) throw limit;
          try {
            return await honest.send(place, markdown, buttons);
          } catch (error) {
            if (error instanceof AgentError && error.code === "RATE_LIMITED") limit = error;
            throw error;
          }
        },
      };
    }),
  },
  {
    defect: "takes an outage for a refusal",
    breaks: ["outage"],
    make: withErrors((error) => (error.code === "NOT_READY" ? new AgentError("INPUT_INVALID", { message: "It was refused." }) : error)),
  },
  {
    defect: "takes a refusal for an outage",
    breaks: ["refused"],
    make: withErrors((error) => (error.code === "INPUT_INVALID" ? new AgentError("NOT_READY", { message: "It did not work." }) : error)),
  },
  {
    defect: "has the request in its errors",
    breaks: ["hidden"],
    make: withErrors(
      (error, text) =>
        new AgentError(error.code, {
          ...{ message: `POST /bot${token}/send: ${text}` },
          ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
        }),
    ),
  },
];
