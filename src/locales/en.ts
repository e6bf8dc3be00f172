import type { Locale } from './locale.ts'

export const en: Locale = {
  siteName: 'Newsletter',
  siteDescription: 'News from this site by email, now and then.',
  by: 'by {author}',
  email: 'Email address',
  subscribe: 'Subscribe',
  stored: 'We store your email address and the date on which you subscribed.',
  contact: 'Contact and unsubscribe',
  home: 'Visit our website',
  issues: 'Where to start',
  privacy: 'Privacy',
  imprint: 'Legal notice',
  license: 'Content license:',
  languages: 'Languages',
  suggestion: 'This page is also available in English',
  next: 'The next issue will be in your inbox.',
  again: 'Subscribe another address',
  developers: 'For developers',
  outcomes: {
    accepted: 'You’re on the list.',
    empty: 'Please enter your email address.',
    non_ascii: 'Before the @, use letters without accents, digits, and characters such as . _ - +',
    invalid_email: 'Please check the address. It should look like name@example.org.',
    storage_failure: 'Your address could not be saved. Please try again in a moment.',
    too_many: 'Too many requests at the moment. Please wait a minute, then try again.',
    refused: 'The request was refused. Please try again later, or from another network.',
    typo: 'Did you mean {address}? If not, press {subscribe} again.',
    sending: 'One moment…',
    unreachable:
      'There is no connection at the moment. Please try again. You may have to sign in to this network first.',
  },
}
