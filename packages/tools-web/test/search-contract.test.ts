import { proveKit, runKit } from "@loopwright/testing";
import { describe, it } from "vitest";
import { offlineIndex, type SearchHit, type SearchProvider } from "../src/index.ts";
import { type SearchUnderTest, searchProviderKit } from "../src/testing/index.ts";
import { fakes, serviceUnderTest } from "./search-services.ts";

for (const [name, fake] of Object.entries(fakes))
  describe(`${name} keeps the promises of a search (B100)`, () => runKit(it, searchProviderKit, { make: () => serviceUnderTest(fake) }));

async function offlineUnderTest(): Promise<SearchUnderTest> {
  const pages = [
    { url: "https://two.example/", title: "Coast", text: "A walk along the coast, and a lighthouse." },
    { url: "https://one.example/a", title: "The <b>lighthouse</b>", text: "The lighthouse is\n old.\u200b" },
    { url: "https://one.example/a", title: "The lighthouse, again", text: "A lighthouse." },
    { url: "javascript:alert(1)", title: "Not a page", text: "A lighthouse." },
    {
      url: "https://three.example/",
      title: "Boats",
      text: `${"They see the coast and the lighthouse. ".repeat(3)}${"Boats sail. ".repeat(50)}`,
    },
    { url: "https://four.example/", title: "Trees", text: "Oaks and beeches." },
  ];
  return { provider: offlineIndex(pages), known: { query: "lighthouse", firstUrl: "https://one.example/a" }, unknownQuery: "zeppelin" };
}

describe("the offline index keeps the promises of a search (B100)", () =>
  runKit(it, searchProviderKit, { make: offlineUnderTest, lacks: [{ capability: "service", reason: "it has none" }] }));

type Spoil = (hits: readonly SearchHit[], about: { readonly query: string; readonly countMax: number }) => readonly SearchHit[];

/** An adapter over a real one with one defect in what it gives. */
function spoiled(spoil: Spoil) {
  return async (): Promise<SearchUnderTest> => {
    const under = await serviceUnderTest(fakes["tavily"] as (typeof fakes)[string]);
    const wrap = (provider: SearchProvider): SearchProvider => ({
      name: provider.name,
      search: async (request, options) => spoil(await provider.search({ ...request, countMax: 20 }, options), request),
    });
    return { ...under, provider: wrap(under.provider) };
  };
}

/** An adapter with one defect in how it calls. */
function rewired(
  search: (inner: SearchProvider, ...args: Parameters<SearchProvider["search"]>) => ReturnType<SearchProvider["search"]>,
  about: "all" | "failing" = "all",
) {
  return async (): Promise<SearchUnderTest> => {
    const under = await serviceUnderTest(fakes["tavily"] as (typeof fakes)[string]);
    const wrap = (inner: SearchProvider): SearchProvider => ({ name: inner.name, search: (...args) => search(inner, ...args) });
    const failing = under.failing && { ...under.failing, provider: wrap(under.failing.provider) };
    return { ...under, ...(about === "all" ? { provider: wrap(under.provider) } : {}), ...(failing ? { failing } : {}) };
  };
}

const cut: Spoil = (hits, { countMax }) => hits.slice(0, countMax);
const extra =
  (hit: Partial<SearchHit>): Spoil =>
  (hits, { query, countMax }) =>
    query === "lighthouse"
      ? [...hits.slice(0, 2), { title: "A", url: "https://x.example/", snippet: "", ...hit }].slice(0, countMax)
      : hits;

describe("the kit of a search", () => {
  proveKit(it, searchProviderKit, [
    { defect: "gives the worst first", breaks: ["best-first"], make: spoiled((hits, about) => cut([...hits].reverse(), about)) },
    { defect: "gives addresses that are no pages", breaks: ["web-pages"], make: spoiled(extra({ url: "javascript:alert(1)" })) },
    { defect: "gives a page twice", breaks: ["web-pages"], make: spoiled(extra({ url: "https://one.example/a" })) },
    { defect: "leaves markup in", breaks: ["plain-words"], make: spoiled(extra({ snippet: "<strong>a</strong>" })) },
    { defect: "gives a hit without a title", breaks: ["plain-words"], make: spoiled(extra({ title: " " })) },
    { defect: "gives all it found", breaks: ["count"], make: spoiled((hits) => hits) },
    {
      defect: "makes something up",
      breaks: ["nothing"],
      make: spoiled((hits, about) => (hits.length === 0 ? [{ title: "A", url: "https://x.example/", snippet: "" }] : cut(hits, about))),
    },
    {
      defect: "refuses long queries",
      breaks: ["long-query"],
      make: rewired((inner, request, options) =>
        request.query.length > 300 ? Promise.reject(new Error("too long")) : inner.search(request, options),
      ),
    },
    {
      defect: "does not look at the signal",
      breaks: ["abort"],
      make: rewired((inner, request) => inner.search(request, { signal: new AbortController().signal })),
    },
    {
      defect: "shows its key",
      breaks: ["refusal"],
      make: rewired((inner, request, options) => {
        const leaky = (error: Error): never => {
          if (error.name === "AgentError") error.message += " another-key-2";
          throw error;
        };
        return inner.search(request, options).catch(leaky);
      }, "failing"),
    },
    {
      defect: "finds nothing where its service refuses",
      breaks: ["refusal"],
      make: rewired((inner, ...args) => inner.search(...args).catch(() => []), "failing"),
    },
  ]);
});
