/** The phrases of the page, as plain text. Every language has the same ones. */
export const en = {
  // For a site without a name, or without a description.
  siteName: 'Newsletter',
  siteDescription: 'News from this site by email, now and then.',
  // Who writes.
  by: 'by {author}',
  email: 'Email address',
  // The button, and the end of the title.
  subscribe: 'Subscribe',
  stored: 'We store your email address and the date on which you subscribed.',
  // The link to the owner, for questions and for leaving the list.
  contact: 'Contact and unsubscribe',
  home: 'Visit our website',
  // The heading of the issues to read first, of which there may be one. They stand below the form and the confirmation.
  issues: 'Where to start',
  privacy: 'Privacy',
  imprint: 'Legal notice',
  // Before the name of the license.
  license: 'Content license:',
  languages: 'Languages',
  // After a subscription: what comes. It is true with a confirmation of the mail tool, and without one.
  next: 'Look for our next email in your inbox.',
  // With `confirmation` in the site file, in the place of `accepted` and `next`: the mail tool asks for a confirmation.
  almost: 'Almost done.',
  confirm: 'You will get an email. Please open it, and confirm that you want this newsletter.',
  // The link that brings the form back, also to correct the address.
  again: 'Subscribe another address',
  developers: 'For developers',
  accepted: 'You’re on the list.',
  empty: 'Please enter your email address.',
  non_ascii: 'Before the @, use letters without accents, digits, and characters such as . _ - +',
  invalid_email: 'Please check the address. It should look like name@example.org.',
  storage_failure: 'Your address could not be saved. Please try again in a moment.',
  too_many: 'Too many requests at the moment. Please wait a minute, then try again.',
  refused: 'The request was refused. Please try again later, or from another network.',
  // `{address}` stands for the likely address, `{subscribe}` for the label of the button.
  typo: 'Did you mean {address}? If not, press {subscribe} again.',
  sending: 'One moment…',
  unreachable: 'There is no connection at the moment. Please try again. You may have to sign in to this network first.',
}
