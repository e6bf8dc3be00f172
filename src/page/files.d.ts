/** The path of a file, from an import with `type: 'file'`. */
declare module '*.wasm' {
  const path: string
  export default path
}

declare module '*.ttf' {
  const path: string
  export default path
}
