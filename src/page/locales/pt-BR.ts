import type { Locale } from '../locale.ts'

export const ptBR: Locale = {
  changed: '2026-11-21',
  email: 'Endereço de e-mail',
  subscribe: 'Inscrever-se',
  kept: 'Guardamos o seu endereço de e-mail e a data da sua inscrição.',
  contact: 'Fazer uma pergunta ou pedir a remoção do seu endereço',
  license: 'Licença do conteúdo:',
  languages: 'Idiomas',
  suggestion: 'Esta página também está disponível em português',
  developers: {
    title: 'Para desenvolvedores',
    lead: 'Uma única requisição adiciona um endereço à lista, sem conta e sem chave.',
  },
  outcomes: {
    accepted: 'Agradecemos. Seu endereço está na lista.',
    empty: 'Digite o seu endereço de e-mail.',
    non_ascii: 'Antes do @ só pode haver letras sem acento, números e sinais simples.',
    invalid_email: 'Confira o endereço. Ele deve se parecer com name@example.org.',
    invalid_body: 'Sua solicitação não chegou completa. Tente novamente.',
    storage_failure: 'Não foi possível salvar o seu endereço. Tente novamente em instantes.',
    sending: 'Um momento…',
    unreachable: 'Não há conexão no momento. Tente novamente.',
  },
}
