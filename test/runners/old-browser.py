"""A window with the engine of Qt 5, which is Chromium 87. Another program drives it through its port for debugging, and
closes its standard input at the end."""

import sys

from PyQt5.QtCore import QSocketNotifier, QUrl
from PyQt5.QtWebEngineWidgets import QWebEngineView
from PyQt5.QtWidgets import QApplication

application = QApplication(sys.argv)
view = QWebEngineView()
view.resize(390, 800)
view.load(QUrl('about:blank'))
view.show()
notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Read)
notifier.activated.connect(application.quit)
application.exec_()
