import type { Locale } from '../locale.ts'

export const es: Locale = {
  changed: '2026-11-21',
  email: 'Correo electrónico',
  subscribe: 'Suscribirse',
  kept: 'Guardamos su dirección de correo y la fecha en que se suscribió.',
  contact: 'Hacer una pregunta o pedir que se elimine su dirección',
  license: 'Licencia del contenido:',
  languages: 'Idiomas',
  suggestion: 'Esta página también está disponible en español',
  developers: {
    title: 'Para desarrolladores',
    lead: 'Una sola petición añade una dirección a la lista, sin cuenta ni clave.',
  },
  outcomes: {
    accepted: 'Gracias. Su dirección está en la lista.',
    empty: 'Escriba su dirección de correo electrónico.',
    non_ascii: 'Antes de la @ solo puede haber letras sin tilde, cifras y signos sencillos.',
    invalid_email: 'Revise la dirección. Debe parecerse a name@example.org.',
    invalid_body: 'Su solicitud no ha llegado completa. Inténtelo de nuevo.',
    storage_failure: 'No se ha podido guardar su dirección. Inténtelo de nuevo en un momento.',
    sending: 'Un momento…',
    unreachable: 'No hay conexión en este momento. Inténtelo de nuevo.',
  },
}
