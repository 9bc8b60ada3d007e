extension DeviceRegistry {
    /// What is known of the token of a request that is good so far.
    func standing(token: UnsafeRawBufferPointer, of request: GatewayRequest) -> Standing {
        guard hasDevices, let topic = request.topic.value else { return .unknown }
        return standing(token: token, topic: topic)
    }
}
