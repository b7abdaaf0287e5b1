public import LarderStorage

/// What becomes of a store that belongs to another than ``OfflineODataParameters/currentUser`` when it is opened.
///
/// Whatever is chosen, users are never mixed: nobody sees another's rows, changes, archive, event log or media, and what a
/// user has changed is sent with that user's credentials alone. Every way fails with `storeInUse` while anybody has the
/// store open, and loses nothing where it fails.
///
/// The switch is whole before the current user's first download: where opening fails after it, as without a network, the
/// place stays the current user's, and the other comes back by opening the own store. A plain store that could not be moved
/// aside after it was encrypted stays in its place, under the key that was given for it.
///
/// ```swift
/// var parameters = OfflineODataParameters(storeEncryptionKey: bobsKey)
/// parameters.currentUser = "bob"
/// parameters.onUserSwitch = .setAside()
/// try await OfflineODataProvider(serviceRoot: url, transport: transport, parameters: parameters).open()
/// ```
public enum OfflineODataUserSwitch: Sendable {
  /// Opening fails with `otherUser`, whose message says how many changes wait and what to do. The default.
  case refuse
  /// What waits is sent first; then the other's store is removed, and one for the current user takes its place.
  ///
  /// It is sent by a provider that the application has made for the other user, with that user's name, key, transport and
  /// credentials, for the same file: nothing of the current user's goes with it. It is opened if need be, and closed.
  /// With nil nothing is sent: the application does that itself, and a store is removed where nothing waits in it.
  ///
  /// A store is removed only where nothing is left in it: where the upload is cut, its error is thrown; where the service
  /// has refused something, `otherUser` says how many requests are in the error archive, and the other user mends or
  /// discards them, or the store is set aside. Until then it is as the upload has left it.
  case uploadFirst(as: OfflineODataProvider? = nil, options: OfflineODataUploadOptions = OfflineODataUploadOptions())
  /// The other's whole store, with all that waits in it, is moved aside, encrypted with its own key, and found again when
  /// that user comes back with the key. It needs no network, and no key of a store that is encrypted already.
  ///
  /// `key` encrypts a store that is plain; the application keeps it for that user, who comes back with it alone. A plain
  /// store and no key is refused (`setAsideNeedsKey`).
  case setAside(key: StorageKey? = nil)
}
