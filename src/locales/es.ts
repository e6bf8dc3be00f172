import type { Locale } from './locale.ts'

export const es: Locale = {
  siteName: 'Boletín',
  siteDescription: 'Novedades de este sitio por correo electrónico, de vez en cuando.',
  by: 'por {author}',
  email: 'Correo electrónico',
  subscribe: 'Suscribirse',
  stored: 'Guardamos su dirección de correo y la fecha en que se suscribió.',
  contact: 'Contacto y baja',
  home: 'Visitar nuestro sitio web',
  issues: 'Por dónde empezar',
  privacy: 'Privacidad',
  imprint: 'Aviso legal',
  license: 'Licencia del contenido:',
  languages: 'Idiomas',
  suggestion: 'Esta página también está disponible en español',
  next: 'El próximo número llegará a su bandeja de entrada.',
  again: 'Suscribir otra dirección',
  developers: 'Para desarrolladores',
  outcomes: {
    accepted: 'Se ha suscrito correctamente.',
    empty: 'Escriba su dirección de correo electrónico.',
    non_ascii: 'Antes de la @, use letras sin tilde, cifras y signos como . _ - +',
    invalid_email: 'Revise la dirección. Use un formato como name@example.org.',
    storage_failure: 'No se ha podido guardar su dirección. Inténtelo de nuevo dentro de un momento.',
    too_many: 'Hay demasiadas solicitudes en este momento. Espere un minuto e inténtelo de nuevo.',
    refused: 'La solicitud ha sido rechazada. Inténtelo más tarde o desde otra red.',
    typo: '¿Quiso decir {address}? Si no, pulse «{subscribe}» otra vez.',
    sending: 'Un momento…',
    unreachable:
      'No hay conexión en este momento. Inténtelo de nuevo. Puede que primero deba iniciar sesión en esta red.',
  },
}
