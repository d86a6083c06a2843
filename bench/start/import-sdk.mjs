// What a program pays before its first line when it imports the vendor's SDK.
import OpenAI from "openai";

if (typeof OpenAI !== "function") throw new Error("The SDK was not imported.");
process.stdout.write(JSON.stringify(process.cpuUsage()));
