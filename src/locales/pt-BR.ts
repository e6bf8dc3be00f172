import type { Locale } from './locale.ts'

export const ptBR: Locale = {
  language: 'Português (Brasil)',
  direction: 'ltr',
  site: {
    name: 'Newsletter',
    description: 'Novidades deste site por e-mail, de vez em quando.',
  },
  email: 'Endereço de e-mail',
  subscribe: 'Inscreva-se',
  kept: 'Guardamos o seu endereço de e-mail e a data da sua inscrição.',
  contact: 'Fazer uma pergunta ou pedir a remoção do seu endereço',
  home: 'Nosso site',
  privacy: 'Privacidade',
  imprint: 'Aviso legal',
  license: 'Licença do conteúdo:',
  languages: 'Idiomas',
  suggestion: 'Esta página também está disponível em português',
  next: 'A próxima edição chegará a este endereço.',
  again: 'Digitar outro endereço',
  developers: {
    title: 'Para desenvolvedores',
    lead: 'Uma única requisição adiciona um endereço à lista, sem conta e sem chave.',
  },
  outcomes: {
    accepted: 'Obrigado! Você está na lista.',
    empty: 'Digite o seu endereço de e-mail.',
    non_ascii: 'Antes do @, use letras sem acento, números e sinais como . _ - +',
    invalid_email: 'Confira o endereço. Use um formato como name@example.org.',
    invalid_body: 'Sua solicitação não chegou completa. Tente novamente.',
    storage_failure: 'Não foi possível salvar o seu endereço. Tente novamente em instantes.',
    too_many: 'Há solicitações demais no momento. Tente novamente mais tarde.',
    typo: 'Você quis dizer {address}? Se não, envie o formulário novamente.',
    sending: 'Um momento…',
    unreachable: 'Não há conexão no momento. Tente novamente.',
  },
}
