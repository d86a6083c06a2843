export { drawnImages } from "./drawn-images.ts";
export { type GenerateImageArguments, type GenerateImageOptions, generateImage } from "./generate-image.ts";
