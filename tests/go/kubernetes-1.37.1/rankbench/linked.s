// A file of this kind lets main.go declare a function whose body is elsewhere.
