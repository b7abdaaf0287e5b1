public import LarderStorage

/// What happens when a store is opened that belongs to a user other than ``OfflineODataParameters/currentUser``.
///
/// With every option, users are never mixed: no user sees another's rows, changes, archive, event log or media, and a
/// user's changes are sent only with that user's credentials. Every option fails with `storeInUse` while the store is
/// open elsewhere, and loses nothing if it fails.
///
/// The switch is complete before the current user's first download. If opening fails after it, for example without a
/// network, the place still belongs to the current user, and the other user returns by opening that user's own store.
/// If an unencrypted store was encrypted but could not be moved aside, it stays in its place, encrypted with the key
/// that was given for it.
///
/// ```swift
/// var parameters = OfflineODataParameters(encryptionKey: bobsKey)
/// parameters.currentUser = "bob"
/// parameters.onUserSwitch = .setAside()
/// try await OfflineODataProvider(serviceRoot: url, transport: transport, parameters: parameters).open()
/// ```
public enum OfflineODataUserSwitch: Sendable {
  /// Opening fails with `otherUser`. The message contains the number of pending changes and what to do. This is the
  /// default.
  case reject
  /// The pending changes of the other user are uploaded first. Then that user's store is removed, and one for the
  /// current user takes its place.
  ///
  /// The upload uses a provider that the application has created for the other user, with that user's name, key,
  /// transport and credentials, for the same file: nothing of the current user's is sent. The provider is opened if
  /// necessary, and closed. With nil, nothing is sent: the application uploads the changes itself, and the store is
  /// removed only if it has no pending changes.
  ///
  /// A store is removed only if it has no changes left. If the upload is interrupted, its error is thrown. If the
  /// service has rejected changes, `otherUser` reports how many requests are in the error archive; then the other user
  /// must repair or discard them, or the store must be set aside. Until then it stays as the upload left it.
  case uploadFirst(as: OfflineODataProvider? = nil, options: OfflineODataUploadOptions = OfflineODataUploadOptions())
  /// The other user's whole store, with its pending changes, is moved aside, encrypted with its own key. It is restored
  /// when that user returns with the key. This needs no network, and no key if the store is encrypted already.
  ///
  /// `encryptionKey` encrypts a store that is not encrypted. The application keeps the key for that user, who can
  /// return only with it. An unencrypted store without a key is an error (`setAsideNeedsKey`).
  case setAside(encryptionKey: StorageKey? = nil)
}
