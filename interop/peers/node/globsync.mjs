// The conformance suite imports fs.globSync, which Node 20 lacks, for a command that
// is not run here. Loaded with --import, this lets it start all the same.
import fs from "node:fs";
import { register } from "node:module";

const asModule = (source) => "data:text/javascript," + encodeURIComponent(source);
const withGlob = asModule('export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];');
const hook = asModule(`export function resolve(specifier, context, next) {
  const ours = specifier === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/");
  return ours ? { url: ${JSON.stringify(withGlob)}, shortCircuit: true } : next(specifier, context);
}`);
if (!fs.globSync) register(hook);
