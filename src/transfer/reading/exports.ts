/**
 * The status columns of the exports of other programs, and what their values mean. Data only.
 *
 * Names are compared without case, blanks and signs; values without case, and with a blank for `-` and `_`. When columns
 * of several programs have the same name, it has the values of all of them. So no value may have two meanings under
 * one name.
 */

import { type ExportColumn, OPT_OUT, toFlag, toValues, WORDS } from './export-columns.ts'

export interface Export {
  readonly program: string
  /** Where the names and values were found, in 2026. */
  readonly sources: readonly string[]
  readonly columns: readonly ExportColumn[]
}

/** The words of the programs whose column is `status`. */
const toStatusColumn = (subscribed: string[], suppressed: string[], skip: string[]): ExportColumn => ({
  names: ['status'],
  values: { ...toValues('subscribed', subscribed), ...toValues('suppressed', suppressed), ...toValues('skip', skip) },
})

/** Kit calls people who unsubscribed `cancelled`. Elsewhere this is the end of a payment, so it is skipped: see decision 54. */
const KIT = toStatusColumn(['active', 'confirmed'], ['bounced', 'complained'], ['inactive', 'unconfirmed', 'cancelled'])

export const EXPORTS: readonly Export[] = [
  {
    program: 'Mailchimp',
    sources: [
      'https://github.com/TryGhost/migrate/tree/main/packages/mg-mailchimp-members/src/test/fixtures',
      'https://mailchimp.com/developer/marketing/docs/account-exports/',
    ],
    columns: [
      // Only the files of the people who left have these columns. So an empty value is unknown.
      { names: ['UNSUB_TIME', 'CLEAN_TIME'], values: toFlag('suppressed', 'subscribed'), date: 'suppressed' },
    ],
  },
  {
    program: 'Ghost',
    sources: ['https://github.com/TryGhost/Ghost/blob/main/ghost/members-csv/lib/unparse.js'],
    columns: [
      // Ghost subscribes every member, so `false` means that the member has unsubscribed.
      { names: ['subscribed_to_emails'], values: toFlag('subscribed', 'suppressed') },
      { names: ['deleted_at'], ...OPT_OUT },
    ],
  },
  {
    program: 'Substack',
    sources: ['https://github.com/TryGhost/migrate/tree/main/packages/mg-substack-members-csv/test/fixtures'],
    columns: [{ names: ['email_disabled'], ...OPT_OUT }],
  },
  {
    program: 'Buttondown',
    sources: [
      'https://github.com/buttondown/openapi/blob/main/enums.json',
      'https://docs.buttondown.com/api-subscribers-type',
    ],
    columns: [
      {
        // Other programs have the kind of a paid subscription in a column of this name.
        names: ['type'],
        with: ['creation_date', 'unsubscription_date'],
        values: {
          ...toValues('subscribed', ['regular', 'premium', 'trialed', 'gifted', 'churning', 'paused', 'past due']),
          ...toValues('suppressed', ['unsubscribed', 'complained', 'undeliverable', 'spammy', 'blocked', 'removed']),
          ...toValues('skip', ['unactivated', 'unpaid', 'churned', 'disabled']),
        },
      },
      { names: ['unsubscription_date'], ...OPT_OUT },
    ],
  },
  {
    program: 'listmonk',
    sources: [
      'https://github.com/knadh/listmonk/blob/master/cmd/subscribers.go',
      'https://github.com/knadh/listmonk/blob/master/models/subscribers.go',
    ],
    columns: [toStatusColumn(['enabled'], ['blocklisted'], ['disabled'])],
  },
  {
    program: 'Kit',
    sources: [
      'https://developers.kit.com/api-reference/subscribers/list-subscribers',
      'https://help.convertkit.com/en/articles/2502651-the-subscriber-profile-page-status',
    ],
    columns: [
      KIT,
      // Elsewhere `state` is a part of an address, or the state of an account in a shop.
      { ...KIT, names: ['state'], weak: true },
    ],
  },
  {
    program: 'beehiiv',
    sources: [
      'https://www.beehiiv.com/newsletter-glossary/subscriber-status',
      'https://github.com/TryGhost/migrate/tree/main/packages/mg-beehiiv-members/src/test/fixtures',
    ],
    columns: [
      toStatusColumn(['active'], [], ['inactive', 'pending', 'validating', 'needs approval']),
      { names: ['unsubscribed_at'], ...OPT_OUT },
    ],
  },
  {
    program: 'MailerLite',
    // No source was found for the names in its files.
    sources: ['https://github.com/mailerlite/mailerlite-nodejs/blob/main/src/modules/subscribers/README.md'],
    columns: [
      toStatusColumn(['active'], ['unsubscribed', 'bounced', 'junk'], ['unconfirmed']),
      // A date in its files, a flag in those of other programs.
      { names: ['Subscribed'], values: { ...toFlag('subscribed', 'suppressed'), '': 'skip' }, date: 'subscribed' },
      { names: ['Unsubscribed', 'unsubscribed_at'], ...OPT_OUT },
    ],
  },
  {
    program: 'MailerLite Classic',
    // The names of its interface. No source was found for those in its files.
    sources: ['https://developers-classic.mailerlite.com/reference/single-subscriber'],
    columns: [
      {
        names: ['type'],
        with: ['date_subscribe', 'date_unsubscribe'],
        values: toStatusColumn(['active'], ['unsubscribed', 'bounced', 'junk'], ['unconfirmed']).values,
      },
      { names: ['date_unsubscribe'], ...OPT_OUT },
    ],
  },
  {
    program: 'Brevo',
    // No source was found for the values.
    sources: ['https://developers.brevo.com/reference/request-contact-export'],
    columns: [{ names: ['EMAIL_BLACKLISTED'], ...OPT_OUT }],
  },
  {
    program: 'Keila',
    sources: [
      'https://github.com/pentacent/keila/blob/main/lib/keila_web/helpers/contacts_csv_export.ex',
      'https://github.com/pentacent/keila/blob/main/lib/keila/contacts/schemas/contact.ex',
    ],
    columns: [toStatusColumn(['active'], ['unsubscribed', 'unreachable'], [])],
  },
  {
    program: 'Mailtrain',
    sources: ['https://github.com/Mailtrain-org/mailtrain/blob/development/server/routes/subscriptions.js'],
    columns: [toStatusColumn(['subscribed'], ['unsubscribed', 'bounced', 'complained'], [])],
  },
  {
    program: 'Sendy',
    // No source was found for the name of the column.
    sources: ['https://sendy.co/forum/discussion/15461/contact-uploads-vs-unsubscribed-users'],
    columns: [toStatusColumn([], ['unsubscribed', 'bounced', 'marked as spam'], [])],
  },
  {
    program: 'HubSpot',
    sources: [
      'https://knowledge.hubspot.com/articles/kcs_article/contacts/what-do-the-columns-mean-in-csv-i-receive-when-i-export-unsubscribes-and-bounces',
    ],
    columns: [
      { names: ['Unsubscribed from all email', 'Portal Unsubscribe', 'Portal Spam Report'], ...OPT_OUT },
      { names: ['Portal Bounce', 'Global Bounce'], ...OPT_OUT },
    ],
  },
  {
    program: 'Campaign Monitor',
    // No source was found for the name of the column in its files.
    sources: ['https://www.campaignmonitor.com/forums/topic/636/extend-document-for-subcriber/'],
    columns: [
      {
        ...toStatusColumn(['active'], ['unsubscribed', 'bounced', 'deleted', 'spam', 'suppressed'], ['unconfirmed']),
        names: ['State'],
        weak: true,
      },
    ],
  },
  {
    program: 'ActiveCampaign',
    // No source was found for the name of the column.
    sources: ['https://help.activecampaign.com/hc/en-us/articles/221073788-Contact-list-statuses-explained'],
    columns: [toStatusColumn(['active'], ['unsubscribed', 'bounced'], ['unconfirmed'])],
  },
  {
    program: 'Shopify',
    sources: ['https://shopify.dev/docs/api/admin-graphql/unstable/enums/CustomerEmailAddressMarketingState'],
    columns: [
      // Most customers with `no` have never subscribed.
      { names: ['Accepts Email Marketing'], values: { ...toFlag('subscribed', 'skip'), '': 'skip' } },
    ],
  },
  {
    // Our own choice, for programs that are not listed.
    program: 'Other programs',
    sources: [],
    columns: [
      { names: ['status', 'subscriber_status', 'subscription_status', 'email_status'], values: WORDS },
      { names: ['unsubscribe_date', 'opted_out', 'bounced_at', 'complained_at'], ...OPT_OUT },
    ],
  },
]
