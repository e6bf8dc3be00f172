import type { Locale } from './locale.ts'

export const zhHans: Locale = {
  language: '简体中文',
  direction: 'ltr',
  site: {
    name: '电子通讯',
    description: '不定期通过电子邮件发送本站的消息。',
  },
  email: '电子邮箱地址',
  subscribe: '订阅',
  kept: '我们会保存您的电子邮箱地址和订阅日期。',
  contact: '联系我们或退订',
  home: '前往我们的网站',
  sample: '先读最近一期',
  privacy: '隐私',
  imprint: '法律声明',
  license: '内容许可协议：',
  languages: '语言',
  suggestion: '本页也提供简体中文版',
  next: '您将通过电子邮件收到下一期通讯。',
  again: '输入其他邮箱',
  developers: {
    title: '面向开发者',
    lead: '一次请求即可将一个邮箱地址加入列表，无需账号或密钥。',
  },
  outcomes: {
    accepted: '谢谢！您已成功订阅。',
    empty: '请输入您的电子邮箱地址。',
    non_ascii: '@ 之前请使用不带变音符号的拉丁字母、数字，以及 . _ - + 等符号。',
    invalid_email: '请检查邮箱地址，格式应类似 name@example.org。',
    invalid_body: '您的请求未能完整送达，请重试。',
    storage_failure: '您的邮箱地址未能保存，请稍后重试。',
    too_many: '目前请求过多，请稍后再试。',
    typo: '您是不是想输入 {address}？如果不是，请再按一次“{subscribe}”。',
    sending: '请稍候…',
    unreachable: '目前无法连接，请重试。您可能需要先登录此网络。',
  },
}
