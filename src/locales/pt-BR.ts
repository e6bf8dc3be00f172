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
  contact: 'Contato ou saída da lista',
  home: 'Ir para o nosso site',
  sample: 'Ler antes a última edição',
  privacy: 'Privacidade',
  imprint: 'Aviso legal',
  license: 'Licença do conteúdo:',
  languages: 'Idiomas',
  suggestion: 'Esta página também está disponível em português',
  next: 'Você receberá a próxima edição por e-mail.',
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
    typo: 'Você quis dizer {address}? Se não, toque de novo em “{subscribe}”.',
    sending: 'Um momento…',
    unreachable: 'Não há conexão no momento. Tente novamente. Talvez seja preciso entrar nesta rede primeiro.',
  },
}
