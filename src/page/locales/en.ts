import type { Locale } from '../locale.ts'

export const en: Locale = {
  changed: '2026-11-21',
  email: 'Email address',
  subscribe: 'Subscribe',
  kept: 'We store your email address and the date on which you subscribed.',
  contact: 'Ask a question, or have your address removed',
  license: 'Content licence:',
  languages: 'Languages',
  suggestion: 'This page is also available in English',
  developers: {
    title: 'For developers',
    lead: 'One request adds an address to the list. No account and no key are needed.',
  },
  outcomes: {
    accepted: 'Thank you. Your address is on the list.',
    empty: 'Please enter your email address.',
    non_ascii: 'Only unaccented letters, digits and simple signs can stand before the @.',
    invalid_email: 'Please check the address. It should look like name@example.org.',
    invalid_body: 'Your request did not arrive in full. Please try again.',
    storage_failure: 'Your address could not be saved. Please try again in a moment.',
    sending: 'One moment…',
    unreachable: 'There is no connection at the moment. Please try again.',
  },
}
