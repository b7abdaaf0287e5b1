import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Passes the session's events to the exchanges of its tasks.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
  /// The exchanges by task; `nil` after the end.
  private let exchanges = Locked<[Int: SessionExchange]?>([:])

  /// Registers a task; false if the transport has been shut down.
  func add(_ exchange: SessionExchange, for task: URLSessionTask) -> Bool {
    exchanges.withLock { exchanges in
      if exchanges == nil { return false }
      exchanges?[task.taskIdentifier] = exchange
      return true
    }
  }

  /// Ends all exchanges, and accepts no more.
  func close() {
    let open = exchanges.withLock { exchanges in
      defer { exchanges = nil }
      return exchanges ?? [:]
    }
    for exchange in open.values { exchange.cancel() }
  }

  private func exchange(of task: URLSessionTask) -> SessionExchange? {
    exchanges.withLock { $0?[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    // The redirect itself is the response; the transport decides whether to follow it.
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    exchange(of: dataTask)?.received(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.received(Array(data))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    exchange(of: task)?.sent()
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let exchange = exchanges.withLock { $0?.removeValue(forKey: task.taskIdentifier) }
    exchange?.ended(error)
  }
}
