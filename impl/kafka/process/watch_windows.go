package process

// watch does nothing: the system has no groups of processes to kill.
func watch(int) (dismiss func(), err error) { return func() {}, nil }

func empty(int) bool { return true }
