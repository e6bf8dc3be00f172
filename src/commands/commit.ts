/** The commit that an executable was built from. Undefined when the sources run. The build replaces this module. */
export const COMMIT: string | undefined = undefined
