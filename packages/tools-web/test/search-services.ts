import type { IncomingMessage, ServerResponse } from "node:http";
import type { SearchProvider } from "../src/index.ts";
import { brave, searxng, tavily } from "../src/index.ts";
import type { SearchUnderTest } from "../src/testing/index.ts";
import { type TestServer, webServer } from "./web-server.ts";

/** What the fakes know: a good page, a page twice, an address that is no page, and text with markup. */
const found = [
  {
    title: "The <strong>lighthouse</strong>",
    url: "https://one.example/a",
    text: "It is <strong>43</strong> metres\n high &amp; old.\u200b",
  },
  { title: "Again", url: "https://one.example/a#part", text: "The same page." },
  { title: "Not a page", url: "javascript:alert(1)", text: "No." },
  { title: "Second", url: "https://two.example/", text: "" },
  { title: "", url: "https://three.example/", text: "Without a title." },
];
const findsFor = (query: string) => (query === "lighthouse" ? found : []);
const key = "tvly-secret-key-1";

type Answer = readonly [status: number, body: unknown];

/** A service that refuses what the real one refuses: methods, paths, keys, and parameters out of their range. */
interface Fake {
  readonly answer: (request: IncomingMessage, url: URL, body: string) => Answer;
  readonly provider: (baseUrl: string, apiKey: string) => SearchProvider;
}

function tavilyAnswer(request: IncomingMessage, url: URL, body: string): Answer {
  const detail = (error: string) => ({ detail: { error } });
  if (request.method !== "POST" || url.pathname !== "/search") return [404, { detail: "Not Found" }];
  if (request.headers.authorization !== `Bearer ${key}`)
    return [401, detail(`Unauthorized: missing or invalid API key ${request.headers.authorization}.`)];
  if (request.headers["content-type"] !== "application/json") return [422, detail("Input should be a valid dictionary")];
  const { query, max_results: count, search_depth: depth } = JSON.parse(body);
  if (typeof query !== "string" || query === "") return [422, detail("Field required: query")];
  if (query.length > 400) return [400, detail("Query is too long. Max query length is 400 characters.")];
  if (!Number.isInteger(count) || count < 0 || count > 20) return [422, detail("max_results")];
  if (!["basic", "advanced"].includes(depth)) return [422, detail("search_depth")];
  const results = findsFor(query).map(({ title, url: address, text }) => ({
    title,
    url: address,
    content: text,
    score: 0.9,
    raw_content: null,
  }));
  return [200, { query, answer: null, images: [], results, response_time: 0.5, request_id: "1" }];
}

function braveAnswer(request: IncomingMessage, url: URL): Answer {
  const error = (code: string, status: number): Answer => [
    status,
    { type: "ErrorResponse", error: { id: "1", status, code, detail: `for ${key}` }, time: 1 },
  ];
  if (request.method !== "GET" || url.pathname !== "/res/v1/web/search") return [404, {}];
  if (request.headers["x-subscription-token"] !== key) return error("SUBSCRIPTION_TOKEN_INVALID", 422);
  const [query, count] = [url.searchParams.get("q") ?? "", Number(url.searchParams.get("count"))];
  if (query === "" || query.length > 400 || query.split(/\s+/).length > 50) return error("VALIDATION", 422);
  if (!Number.isInteger(count) || count < 1 || count > 20) return error("VALIDATION", 422);
  const results = findsFor(query).map(({ title, url: address, text }) => ({
    title,
    url: address,
    description: text,
    page_age: "2026-01-02T00:00:00",
  }));
  return [200, { type: "search", query: { original: query }, ...(results.length > 0 ? { web: { type: "search", results } } : {}) }];
}

function searxngAnswer(request: IncomingMessage, url: URL): Answer {
  if (request.method !== "GET" || url.pathname !== "/sub/search") return [404, "<html>"];
  const query = url.searchParams.get("q") ?? "";
  if (url.searchParams.get("format") !== "json" || request.headers["x-forbid"] !== undefined) return [403, "<html>Forbidden"];
  if (query === "") return [400, "<html>No query"];
  const results = findsFor(query).map(({ title, url: address, text }) => ({
    title,
    url: address,
    content: text,
    engine: "a",
    publishedDate: null,
  }));
  return [200, { query, number_of_results: results.length, results, answers: [], suggestions: [], unresponsive_engines: [] }];
}

export const fakes: Readonly<Record<string, Fake>> = {
  tavily: { answer: tavilyAnswer, provider: (baseUrl, apiKey) => tavily({ apiKey, baseUrl }) },
  brave: { answer: braveAnswer, provider: (baseUrl, apiKey) => brave({ apiKey, baseUrl }) },
  searxng: {
    answer: searxngAnswer,
    provider: (baseUrl, apiKey) => searxng({ baseUrl: `${baseUrl}${apiKey === key ? "/sub" : "/other"}` }),
  },
};

/** A fake behind a real server. */
async function serviceOf({ answer }: Fake): Promise<TestServer> {
  return webServer((request, response) => void answerTo(request, response, answer));
}

async function answerTo(request: IncomingMessage, response: ServerResponse, answer: Fake["answer"]): Promise<void> {
  let body = "";
  for await (const chunk of request) body += chunk;
  const [status, value] = answer(request, new URL(request.url ?? "/", "http://localhost"), body);
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof value === "string" ? value : JSON.stringify(value));
}

export async function serviceUnderTest(fake: Fake): Promise<SearchUnderTest> {
  const { origin } = await serviceOf(fake);
  return {
    provider: fake.provider(origin, key),
    known: { query: "lighthouse", firstUrl: "https://one.example/a" },
    unknownQuery: "zeppelin",
    failing: { provider: fake.provider(origin, "another-key-2"), secrets: [key, "another-key-2"] },
  };
}
