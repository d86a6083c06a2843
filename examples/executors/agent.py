"""Answers in place of a model. What a framework prints goes to standard error; standard output has the lines alone."""
import json
import sys

request = json.loads(sys.stdin.readline())
question = request["messages"][-1]["content"]


def write(**line):
    print(json.dumps(line), flush=True)


# Here a framework would work, for example: answer = crew.kickoff(inputs={"question": question}).raw
for word in f"You asked: {question}".split(" "):
    write(type="text", delta=word + " ")
write(type="end")
