import type { JsonObject } from "@loopwright/core";
import type { ModelRequest } from "@loopwright/core/ports";
import { type Exchange, hasFailed, shown } from "../exchange.ts";
import type { OfflineReply } from "../offline-answer.ts";
import { meaningOf, partsOf, queriesOf, type Topic, topicOf } from "./questions.ts";

/** Names of the tools that it works with. */
export const leadTools = {
  researcher: "researcher_agent_tool",
  feedback: "feedback_questions_tool",
  report: "report_generation_tool",
} as const;

const researchersMax = 3;
/** Words with a meaning below which it asks what is meant. */
const wordsMin = 3;

/** A supervisor: asks what is open, makes a plan, gives its parts to researchers, and writes a report of what they answered and of nothing else. */
export function leadReply(request: ModelRequest, exchange: Exchange): OfflineReply {
  const { results, done } = exchange;
  const offered = new Set((request.toolChoice === "none" ? [] : (request.tools ?? [])).map(({ name }) => name));
  if (results.some(({ name, result }) => name === leadTools.report && !hasFailed(result))) return { text: "Done." };
  const topic = agreedTopic(exchange);
  if (offered.has(leadTools.feedback) && !done.includes(leadTools.feedback) && isVague(topic)) {
    const questions = [`Which facts of ${topic.subject || "it"} do you want to know?`, "Which one do you mean, by its full name?"];
    return { text: "I have to know more before I begin.", calls: [{ name: leadTools.feedback, args: { questions } }] };
  }
  if (offered.has(leadTools.researcher) && !done.includes(leadTools.researcher)) {
    const parts = partsOf(topic, researchersMax);
    const plan = parts.map((part, at) => `${at + 1}. ${part}`).join("\n");
    return { text: `Plan:\n\n${plan}`, calls: parts.map((question) => ({ name: leadTools.researcher, args: { question } })) };
  }
  if (offered.has(leadTools.report))
    return { text: "I write the report.", calls: [{ name: leadTools.report, args: reportOf(topic, results) }] };
  return { text: "There is nothing more that I can do." };
}

/** The topic as the user's answer made it, where the user was asked. */
function agreedTopic({ text, results }: Exchange): Topic {
  const answer = results.find(({ name, result }) => name === leadTools.feedback && !hasFailed(result));
  const topics = [...(answer ? [shown(answer.result)] : []), text].map(topicOf);
  const subject = topics.map((topic) => topic.subject).join(" ");
  return topics.find(({ aspects }) => aspects.length > 0) ?? { aspects: [], subject };
}

const isVague = ({ aspects, subject }: Topic): boolean => aspects.length === 0 && meaningOf(subject).length < wordsMin;

const claimLine = /^- (.+) \((https?:\S+)\)$/gm;
const openLine = /^- Not found: (.+)$/gm;

/** Made of the lines of the researchers. What none of them answered stays open. */
function reportOf({ aspects, subject }: Topic, results: Exchange["results"]): JsonObject {
  const answers = results.filter(({ name }) => name === leadTools.researcher);
  const texts = answers.map(({ result }) => (hasFailed(result) ? "" : shown(result)));
  const claims = texts.flatMap((text) =>
    [...text.matchAll(claimLine)].map(([, claim = "", url = ""]) => ({ text: claim, sources: [url] })),
  );
  const lost = answers.flatMap(({ args, result }) => (hasFailed(result) ? queriesOf(topicOf(questionIn(args))) : []));
  const open = [...texts.flatMap((text) => [...text.matchAll(openLine)].map(([, query = ""]) => query)), ...lost];
  const heading = aspects.length > 0 ? `What is known of the ${subject}` : "What is known";
  return {
    title: subject.slice(0, 200),
    sections: claims.length > 0 ? [{ heading, claims }] : [],
    open: claims.length + open.length > 0 ? open : [subject],
  };
}

const questionIn = (args: unknown): string => String((args as { readonly question?: unknown } | undefined)?.question ?? "");
