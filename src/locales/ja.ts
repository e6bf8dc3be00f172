import type { Locale } from './locale.ts'

export const ja: Locale = {
  siteName: 'ニュースレター',
  siteDescription: 'このサイトのお知らせを、ときどきメールでお届けします。',
  by: '発行者：{author}',
  email: 'メールアドレス',
  subscribe: '登録する',
  stored: 'お預かりするのは、メールアドレスと登録日です。',
  contact: 'お問い合わせ・登録解除',
  home: 'ウェブサイトを見る',
  issues: 'はじめに読むなら',
  privacy: 'プライバシー',
  imprint: '運営者情報',
  license: 'コンテンツのライセンス：',
  languages: '言語',
  suggestion: 'このページは日本語でもご覧いただけます',
  next: '次号をメールでお届けします。',
  again: '別のアドレスを登録する',
  developers: '開発者の方へ',
  outcomes: {
    accepted: '登録が完了しました。',
    empty: 'メールアドレスを入力してください。',
    non_ascii: '@の前には、半角の英字、数字、および . _ - + などの記号を使ってください。',
    invalid_email: 'メールアドレスをご確認ください。name@example.org のような形で入力してください。',
    storage_failure: 'メールアドレスを保存できませんでした。しばらくしてからもう一度お試しください。',
    too_many: 'アクセスが集中しています。1分ほど待ってから、もう一度お試しください。',
    refused: '送信が拒否されました。時間をおくか、別のネットワークからもう一度お試しください。',
    typo: '{address} ではありませんか？ このままでよければ、もう一度「{subscribe}」を押してください。',
    sending: '送信しています…',
    unreachable:
      '現在、接続できません。もう一度お試しください。先にこのネットワークへのログインが必要な場合もあります。',
  },
}
